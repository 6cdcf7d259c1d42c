# vev's integration for fish: marks prompts and commands (OSC 133) and tells the directory (OSC 7).
# In ~/.config/fish/config.fish: vev shell-init fish | source
if status is-interactive; and not set -q __vev_marks; and test "$TERM" != dumb
    set -g __vev_marks 1
    # From version 4 on fish marks by itself.
    if test (string split . -- $version)[1] -lt 4
        function __vev_prompt --on-event fish_prompt
            printf '\e]133;A\a'
        end
        function __vev_cancel --on-event fish_cancel
            printf '\e]133;A\a'
        end
        function __vev_preexec --on-event fish_preexec
            printf '\e]133;C\a'
        end
        function __vev_postexec --on-event fish_postexec
            printf '\e]133;D;%s\a' $status
        end
    end
    function __vev_cwd --on-variable PWD
        printf '\e]7;file://%s%s\a' $hostname (string escape --style=url -- $PWD)
    end
    __vev_cwd
end
