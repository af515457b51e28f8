import { type Command, Option } from 'commander'
import type { Describe } from './describe.ts'
import type { World } from './session.ts'

/** A command that talks to a server. */
const speakingOf = (parent: Command, name: string, describe: Describe): Command =>
  describe(parent.command(name))
    .addOption(new Option('--host <url>', 'the server; FORGE_HOST, or where you signed in last'))
    .option('--context <name>', 'a server you are signed in at, by its name in forge context list')
    .option('--json', 'print JSON, one object a line where there are many')

/** The work of a command, given its operands and options; resolves to its exit code. */
type Work = (world: World, ...given: never[]) => Promise<number>
type AddSpeaking = (commands: Record<string, readonly [Describe, Work]>) => void

/** Adds commands that talk to a server to `parent`, by their names. */
export const speakingIn =
  (parent: Command, world: World, ended: (code: number) => void): AddSpeaking =>
  commands => {
    for (const [name, [describe, work]] of Object.entries(commands))
      speakingOf(parent, name, describe).action(async (...given) => {
        // The last one is the command itself.
        const operandsAndOptions = given.slice(0, -1) as never[]
        ended(await work(world, ...operandsAndOptions))
      })
  }
