# vev's integration for zsh: marks prompts and commands (OSC 133) and tells the directory (OSC 7).
# In ~/.zshrc, at its end: eval "$(vev shell-init zsh)"
if [[ -o interactive && -z ${__vev_marks-} && ${TERM-} != dumb ]]; then
	typeset -g __vev_marks=1 __vev_ran= __vev_dir=
	__vev_cwd() {
		emulate -L zsh
		unsetopt multibyte
		[[ $PWD != $__vev_dir ]] || return 0
		__vev_dir=$PWD
		local out= c
		local -i i
		for ((i = 1; i <= ${#PWD}; i++)); do
			c=$PWD[i]
			case $c in
			[a-zA-Z0-9/._~-]) out+=$c ;;
			*) out+=%${(l:2::0:)$(([##16]#c))} ;;
			esac
		done
		printf '\033]7;file://%s%s\007' "$HOST" "$out"
	}
	__vev_precmd() {
		local last=$?
		[[ -z $__vev_ran ]] || printf '\033]133;D;%s\007' $last
		__vev_ran=
		__vev_cwd
		[[ $PS1 == *'133;B'* ]] || PS1+=$'%{\e]133;B\a%}'
		printf '\033]133;A\007'
	}
	__vev_preexec() {
		__vev_ran=1
		printf '\033]133;C\007'
	}
	autoload -Uz add-zsh-hook
	add-zsh-hook precmd __vev_precmd
	add-zsh-hook preexec __vev_preexec
fi
