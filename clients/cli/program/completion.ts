import type { Command } from 'commander'
import { completionScripts } from './completion-scripts.ts'
import { describe } from './describe.ts'
import { type ExitCode, exitCode } from './failure.ts'
import { nextWords, runWords } from './next-words.ts'
import { openSession, type World } from './session.ts'

export const describeCompletion = describe({
  text: 'print a completion script for commands, options and run ids',
  operands: { '<shell>': { text: '', choices: Object.keys(completionScripts) } },
  after: `
Put one of these where your shell starts:
  bash  source <(forge completion bash)                       in ~/.bashrc
  zsh   source <(forge completion zsh)                        in ~/.zshrc, after compinit
  fish  forge completion fish | source                        in ~/.config/fish/config.fish`,
})

export function completion({ terminal }: World, shell: string): ExitCode {
  terminal.data(completionScripts[shell] ?? '')
  return exitCode.ok
}

export const describeComplete = describe({
  text: '',
  operands: { '[words...]': '' },
})

/** Prints the possible next words, one a line. Silent when there are none: a prompt is no place for errors. */
export async function complete(
  world: World,
  program: Command,
  typed: readonly string[],
): Promise<ExitCode> {
  const begun = typed.at(-1) ?? ''
  const { words, runsFor } = nextWords(program, typed)
  const runs = runsFor === null ? [] : await runsOf(world, runsFor, begun).catch(() => [])
  for (const word of [...words, ...runs]) if (word.startsWith(begun)) world.terminal.data(word)
  return exitCode.ok
}

async function runsOf(world: World, command: string, begun: string): Promise<string[]> {
  const { api } = await openSession(world, {})
  return api.isSignedIn ? runWords(api, command, begun) : []
}
