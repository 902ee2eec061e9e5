#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Writes an assembler file that embeds a binary file as a read-only symbol.

usage: embed.py INPUT SYMBOL OUTPUT.S

The symbol is 64-byte aligned (cuModuleLoadData wants 8) and followed by SYMBOL_end.
"""
import os
import sys


def main():
    source, symbol, target = sys.argv[1:4]
    path = os.path.abspath(source).replace("\\", "\\\\").replace('"', '\\"')
    text = f"""    .section .rodata
    .balign 64
    .global {symbol}
    .hidden {symbol}
{symbol}:
    .incbin "{path}"
    .global {symbol}_end
    .hidden {symbol}_end
{symbol}_end:
    .byte 0
    .section .note.GNU-stack,"",@progbits
"""
    with open(target, "w", encoding="ascii") as out:
        out.write(text)


if __name__ == "__main__":
    main()
