# SPDX-License-Identifier: BSD-2-Clause-Patent
# Sourced by the scripts beside it: messages, logged steps with progress, stamps.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build
logs=$build/logs
jobs=${QC_JOBS:-$(nproc)}

say() { printf '%s\n' "$*"; }
headline() { printf '\n== %s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }
die() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}
have() { command -v "$1" > /dev/null 2>&1; }

# "apt_get ARGUMENT...": as root or through sudo; asks nothing.
apt_get() {
    local as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 -y --no-install-recommends "$@"
}

# "line_of DIR": 9.0 for an FFmpeg source tree of 9.0.2.
line_of() { sed -E 's/^([0-9]+\.[0-9]+).*/\1/' "$1/RELEASE" 2> /dev/null || echo unknown; }

# "run_logged NAME COMMAND..." keeps the output in build/logs/NAME.log, shows its end if the command fails, and prints a
# sign of life every 20 seconds; with STEPS=N, the number of steps that make is going to announce, also how far it is.
run_logged() {
    local name=$1 log=$logs/$1.log start=$SECONDS pid next status=0
    shift
    mkdir -p "$logs"
    "$@" > "$log" 2>&1 &
    pid=$!
    trap 'kill "$pid" 2> /dev/null || true' EXIT
    next=$((start + 20))
    while kill -0 "$pid" 2> /dev/null; do
        sleep 0.2
        if [ "$SECONDS" -ge "$next" ]; then
            say "   ... $((SECONDS - start)) s: $(progress_of "$log")"
            next=$((SECONDS + 20))
        fi
    done
    wait "$pid" || status=$?
    trap - EXIT
    if [ "$status" -ne 0 ]; then
        tail -n 40 "$log" >&2
        die "$name failed after $((SECONDS - start)) s; the whole output is in $log"
    fi
    say "   done in $((SECONDS - start)) s"
}

# What a log says of the work done: make announces each step as a word in capitals, a tab and a file.
progress_of() {
    local steps=$'^[A-Z0-9]+\t'
    if [ -n "${STEPS-}" ]; then
        printf '%s of %s, ' "$(grep -cE "$steps" "$1" || true)" "$STEPS"
        grep -E "$steps" "$1" | tail -n 1 | tr '\t' ' '
    else
        tail -c 400 "$1" | tr '\r' '\n' | grep -v '^[[:space:]]*$' | tail -n 1 | cut -c 1-90
    fi || true
}

# "is_current STAMP KEY": whether an earlier run left exactly this key. "set_stamp STAMP KEY" leaves it.
is_current() { [ -e "$1" ] && [ "$(cat "$1")" = "$2" ]; }
set_stamp() {
    mkdir -p "$(dirname "$1")"
    printf '%s\n' "$2" > "$1"
}
hash_of() { sha256sum | cut -d ' ' -f 1; }
