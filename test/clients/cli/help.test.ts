import test from 'ava'
import type { Command } from 'commander'
import { createProgram } from '../../../clients/cli/program.ts'
import { processTerminal } from '../../../clients/cli/terminal.ts'

const columns = 80

test('the help of every command fits a terminal of 80 columns', t => {
  const world = { terminal: processTerminal({}), env: {}, nowMs: () => 0 }
  const commands = withThoseBelow(createProgram(world, () => {}))
  t.true(commands.length > 80)
  const wide = commands.flatMap(command => {
    command.configureOutput({ getOutHelpWidth: () => columns })
    return command
      .helpInformation()
      .split('\n')
      .filter(line => line.length > columns)
  })
  t.deepEqual(wide, [])
})

const withThoseBelow = (command: Command): Command[] => [
  command,
  ...command.commands.flatMap(withThoseBelow),
]
