"""Scripts that complete the command line in bash, zsh and fish. Pure functions."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

from pykudu_sql.shell.command_lines.command_line import PROGRAM, CommandLine, Option

_HEAD = "# Completion of {program} for {shell}, written by `{program} completions {shell}`."


def bash(lines: Sequence[CommandLine]) -> str:
    """For bash: sourced, or put into ~/.local/share/bash-completion/completions."""
    names = " ".join(line.name for line in lines if line.name)
    return "\n".join(
        [
            _HEAD.format(program=PROGRAM, shell="bash"),
            "_pykudu_sql() {",
            '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
            '    local command="" options="" values=""',
            '    [ "$COMP_CWORD" -gt 1 ] && command="${COMP_WORDS[1]}"',
            '    case "$command" in',
            *(text for line in lines if line.name for text in _bash_case(line)),
            "    *)",
            *_bash_options(lines[0]),
            "        ;;",
            "    esac",
            '    if [ "$values" = "-" ]; then COMPREPLY=(); return; fi',
            '    if [ -n "$values" ]; then',
            '        COMPREPLY=($(compgen -W "$values" -- "$word")); return',
            "    fi",
            '    if [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$word"))',
            '    elif [ "$COMP_CWORD" -eq 1 ]; then',
            f'        COMPREPLY=($(compgen -W {shlex.quote(names)} -- "$word") '
            '$(compgen -f -- "$word"))',
            '    else COMPREPLY=($(compgen -f -- "$word")); fi',
            "}",
            f"complete -o filenames -F _pykudu_sql {PROGRAM}",
            "",
        ]
    )


def _bash_case(line: CommandLine) -> Iterator[str]:
    yield f"    {line.name})"
    yield from _bash_options(line)
    if line.choices:
        yield f'        [[ "$word" == -* ]] || values={shlex.quote(" ".join(line.choices))}'
    yield "        ;;"


def _bash_options(line: CommandLine) -> Iterator[str]:
    flags = " ".join(flag for option in line.options for flag in option.flags)
    yield f"        options={shlex.quote(flags)}"
    cases = [
        f"{'|'.join(option.flags)}) values={shlex.quote(' '.join(option.choices) or '-')} ;;"
        for option in line.options
        if option.choices or (option.value is not None and not _is_path(option))
    ]
    if cases:
        yield '        case "$before" in'
        yield from (f"        {case}" for case in cases)
        yield "        esac"


def zsh(lines: Sequence[CommandLine]) -> str:
    """For zsh: put as `_pykudu-sql` into a folder of $fpath, or sourced behind compinit."""
    commands = [line for line in lines if line.name]
    return "\n".join(
        [
            f"#compdef {PROGRAM}",
            _HEAD.format(program=PROGRAM, shell="zsh"),
            "_pykudu_sql() {",
            "    local -a commands",
            "    commands=(",
            *(f"        {shlex.quote(f'{_colons(c.name)}:{c.summary}')}" for c in commands),
            "    )",
            "    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then",
            "        _describe command commands",
            "        _files",
            "        return",
            "    fi",
            "    case $words[2] in",
            *(text for line in commands for text in _zsh_case(line)),
            "    *) _arguments \\",
            *(f"        {spec} \\" for spec in _zsh_specs(lines[0])),
            "        '*:file:_files' ;;",
            "    esac",
            "}",
            'if [ "$funcstack[1]" = "_pykudu-sql" ]; then _pykudu_sql "$@"',
            f"else compdef _pykudu_sql {PROGRAM}; fi",
            "",
        ]
    )


def _zsh_case(line: CommandLine) -> Iterator[str]:
    yield f"    {line.name}) shift words; (( CURRENT-- )); _arguments \\"
    yield from (f"        {spec} \\" for spec in _zsh_specs(line))
    rest = f":argument:({' '.join(line.choices)})" if line.choices else "*:file:_files"
    yield f"        {shlex.quote(rest)} ;;"


def _zsh_specs(line: CommandLine) -> Iterator[str]:
    for option in line.options:
        help_text = option.help.replace("[", "(").replace("]", ")").replace(":", "\\:")
        value = ""
        if option.value is not None:
            choices = f"({' '.join(option.choices)})" if option.choices else " "
            value = f":{_colons(option.value)}:{'_files' if _is_path(option) else choices}"
        for flag in option.flags:
            yield shlex.quote(f"*{flag}[{help_text}]{value}")


def _colons(text: str) -> str:
    return text.replace(":", "\\:")


def fish(lines: Sequence[CommandLine]) -> str:
    """For fish: put into ~/.config/fish/completions, or sourced."""
    names = " ".join(line.name for line in lines if line.name)
    written = [_HEAD.format(program=PROGRAM, shell="fish")]
    for line in lines:
        if line.name:
            condition = f"__fish_seen_subcommand_from {line.name}"
            written.append(
                f"complete -c {PROGRAM} -n __fish_use_subcommand -a {line.name} "
                f"-d {_fish(line.summary)}"
            )
        else:
            condition = f"not __fish_seen_subcommand_from {names}"
        if line.choices:
            choices = _fish(" ".join(line.choices))
            written.append(f"complete -c {PROGRAM} -n '{condition}' -f -a {choices}")
        written += [_fish_option(option, condition) for option in line.options]
    return "\n".join([*written, ""])


def _fish_option(option: Option, condition: str) -> str:
    parts = [f"complete -c {PROGRAM} -n '{condition}'"]
    for flag in option.flags:
        parts.append(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}")
    if option.choices:
        parts.append(f"-x -a {_fish(' '.join(option.choices))}")
    elif option.value is not None:
        parts.append("-r" if _is_path(option) else "-x")
    return " ".join([*parts, f"-d {_fish(option.help)}"])


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _is_path(option: Option) -> bool:
    return option.value in ("FILE", "FOLDER", "DIR", "DB")


SHELLS: Mapping[str, Callable[[Sequence[CommandLine]], str]] = {
    "bash": bash,
    "zsh": zsh,
    "fish": fish,
}
