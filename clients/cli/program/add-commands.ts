import { type Command, Option } from 'commander'
import type { Describe } from './describe.ts'
import type { CommonOptions, World } from './session.ts'

const commonOptions = () => [
  new Option('--host <url>', 'the server; FORGE_HOST, or where you signed in last'),
  new Option(
    '--context <name>',
    'a server you are signed in at, by its name in forge context list',
  ),
  new Option('--json', 'print JSON, one object a line where there are many'),
]

/** A command that talks to a server. */
const speakingOf = (parent: Command, name: string, describe: Describe): Command =>
  commonOptions().reduce(
    (command, option) => command.addOption(option),
    describe(parent.command(name)),
  )

/** Accepts the common options before the name of a command, too: `forge --json ps`, `forge deploy --json ls`. */
export function acceptCommonOptionsBefore(parent: Command): void {
  if (parent.commands.length === 0) return
  const known = new Set(parent.options.map(option => option.long))
  for (const option of commonOptions().filter(({ long }) => !known.has(long)))
    parent.addOption(option.hideHelp())
  for (const command of parent.commands) acceptCommonOptionsBefore(command)
}

/** The options of a command, with those given before its name. */
export function optionsOf(command: Command): CommonOptions {
  const own: CommonOptions = command.opts()
  const { host, context, json } = command.parent ? optionsOf(command.parent) : {}
  return {
    ...(host !== undefined && { host }),
    ...(context !== undefined && { context }),
    ...(json !== undefined && { json }),
    ...own,
  }
}

/** The work of a command, given its operands and options; resolves to its exit code. */
type Work = (world: World, ...given: never[]) => Promise<number>
type AddSpeaking = (commands: Record<string, readonly [Describe, Work]>) => void

/** Adds commands that talk to a server to `parent`, by their names. */
export const speakingIn =
  (parent: Command, world: World, ended: (code: number) => void): AddSpeaking =>
  commands => {
    for (const [name, [describe, work]] of Object.entries(commands))
      speakingOf(parent, name, describe).action(async (...given) => {
        // The last ones are the options and the command itself.
        const operands = given.slice(0, -2)
        const options = optionsOf(given.at(-1) as Command)
        ended(await work(world, ...([...operands, options] as never[])))
      })
  }
