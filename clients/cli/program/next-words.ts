import type { Argument, Command } from 'commander'
import type { Api } from '../api/client.ts'

/** Possible next words: fixed ones, or the runs that a command accepts. */
export type Next = { words: string[]; runsFor: string | null }

const nothing: Next = { words: [], runsFor: null }

/** The completions of the last of these words after `forge`; it may be empty. */
export function nextWords(program: Command, typed: readonly string[]): Next {
  const begun = typed.at(-1) ?? ''
  const { command, operands, isValue } = placeAfter(program, typed.slice(0, -1))
  if (isValue) return nothing
  if (begun.startsWith('-')) return { words: optionsOf(command), runsFor: null }
  if (command.commands.length > 0) return { words: namesOf(command), runsFor: null }
  return ofArgument(command, operands)
}

/** The command of these words, how many operands it has by now, and whether an option's value is next. */
function placeAfter(program: Command, words: readonly string[]) {
  let command = program
  let operands = 0
  let isValue = false
  for (const word of words) {
    const next = command.commands.find(each => each.name() === word)
    if (isValue) isValue = false
    else if (word.startsWith('-')) isValue = takesValue(command, word)
    else if (next) command = next
    else operands++
  }
  return { command, operands, isValue }
}

/** Whether the next word is the option's value. `--file=x` has it already. */
function takesValue(command: Command, word: string): boolean {
  const option = command.options.find(({ long, short }) => word === long || word === short)
  return option?.required === true
}

const optionsOf = (command: Command): string[] => [
  ...command.options.flatMap(({ long, hidden }) => (long && !hidden ? long : [])),
  '--help',
]

/** Names with this prefix are for programs. */
const namesOf = (command: Command): string[] =>
  command.commands.map(each => each.name()).filter(name => !name.startsWith('__'))

function ofArgument(command: Command, operands: number): Next {
  const known: readonly Argument[] = command.registeredArguments
  const last = known.at(-1)
  const argument = known[operands] ?? (last?.variadic ? last : undefined)
  if (argument === undefined) return nothing
  if (argument.argChoices) return { words: [...argument.argChoices], runsFor: null }
  return /^runs?$/.test(argument.name()) ? { words: [], runsFor: command.name() } : nothing
}

/** The runs that a command accepts, by command; commands not listed accept any. */
const listOf: Record<string, { path: string; state: string | null }> = {
  stop: { path: '/api/runs', state: 'pending,running' },
  pause: { path: '/api/jobs', state: 'queued,scheduled,starting,running' },
  resume: { path: '/api/jobs', state: 'paused' },
  retry: { path: '/api/jobs', state: 'failed,stopped,succeeded' },
  clone: { path: '/api/jobs', state: null },
  set: { path: '/api/jobs', state: null },
}
const anyRun = { path: '/api/runs', state: null }

const most = 100
/** People do not wait long for a completion. */
const withinMs = 1500

/** Short ids, or run ids if the typed word begins like one. */
export async function runWords(api: Api, command: string, begun: string): Promise<string[]> {
  const { path, state } = (Object.hasOwn(listOf, command) && listOf[command]) || anyRun
  const rows = await api.get<{ run_id: string; short_id: string }[]>(
    path,
    { limit: most, state },
    { withinMs },
  )
  return rows.map(row => (begun.startsWith('run_') ? row.run_id : row.short_id))
}
