# SPDX-License-Identifier: BSD-2-Clause-Patent
# Completion of quality-cuda for fish. The program itself knows what fits.
function __quality_cuda_fitting
    set -l words (commandline -opc)
    $words[1] __complete $words[2..-1] (commandline -ct) 2> /dev/null
end
function __quality_cuda_takes_files
    __quality_cuda_fitting | string match -q -- :files
end
complete -c quality-cuda -n 'not __quality_cuda_takes_files' -f
complete -c quality-cuda -a '(__quality_cuda_fitting | string match -v -- :files)'
