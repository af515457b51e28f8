import { type Command, Option } from 'commander'
import type { World } from './session.ts'

export type Describe = (command: Command) => Command

/** A command that talks to a server. */
const speakingOf = (parent: Command, name: string, describe: Describe): Command =>
  describe(parent.command(name))
    .addOption(new Option('--host <url>', 'the server; FORGE_HOST, or where you signed in last'))
    .option('--context <name>', 'a server you are signed in at, by its name in forge context list')
    .option('--json', 'print JSON, one object a line where there are many')

/** What a command does with its arguments and options; resolves to its exit code. */
type Work = (world: World, ...given: never[]) => Promise<number>
type AddSpeaking = (name: string, describe: Describe, work: Work) => void

/** Adds commands that talk to a server to `parent`. */
export const speakingIn =
  (parent: Command, world: World, ended: (code: number) => void): AddSpeaking =>
  (name, describe, work) => {
    speakingOf(parent, name, describe).action(async (...given) =>
      ended(await work(world, ...(given as never[]))),
    )
  }
