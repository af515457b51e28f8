import { type Command, Option } from 'commander'

export type Describe = (command: Command) => Command

/** A command that talks to a server. */
export const speakingOf = (parent: Command, name: string, describe: Describe): Command =>
  describe(parent.command(name))
    .addOption(new Option('--host <url>', 'the server; FORGE_HOST, or where you signed in last'))
    .option('--context <name>', 'a server you are signed in at, by its name in forge context list')
    .option('--json', 'print JSON, one object a line where there are many')
