# vev's integration for bash: marks prompts and commands (OSC 133) and tells the directory (OSC 7).
# In ~/.bashrc, at its end: eval "$(vev shell-init bash)"
if [[ $- == *i* && -z ${__vev_marks-} && ${TERM-} != dumb ]]; then
	__vev_marks=1 __vev_ran='' __vev_dir=''
	__vev_cwd() {
		local LC_ALL=C dir=$PWD out='' i c n
		[[ $dir != "$__vev_dir" ]] || return 0
		__vev_dir=$dir
		for ((i = 0; i < ${#dir}; i++)); do
			c=${dir:i:1}
			case $c in
			[a-zA-Z0-9/._~-]) out+=$c ;;
			*)
				printf -v n '%d' "'$c"
				printf -v c '%%%02X' "$((n & 255))"
				out+=$c
				;;
			esac
		done
		printf '\033]7;file://%s%s\007' "$HOSTNAME" "$out"
	}
	__vev_prompt() {
		local status=$?
		[[ -z $__vev_ran ]] || printf '\033]133;D;%s\007' "$status"
		__vev_ran=''
		__vev_cwd
		[[ $PS1 == *'133;B'* ]] || PS1+='\[\e]133;B\a\]'
		printf '\033]133;A\007'
		return "$status"
	}
	# Expanded before each command: it prints the mark and remembers that there was one.
	PS0=${PS0-}'${__vev_ran:='$'\033]133;C\007''}'
	if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
		PROMPT_COMMAND=(__vev_prompt "${PROMPT_COMMAND[@]}")
	else
		PROMPT_COMMAND="__vev_prompt${PROMPT_COMMAND:+; $PROMPT_COMMAND}"
	fi
fi
