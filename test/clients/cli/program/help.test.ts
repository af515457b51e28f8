import test from 'ava'
import type { Command } from 'commander'
import { createProgram } from '../../../../clients/cli/program/program.ts'
import { worldOf } from '../../../../clients/cli/program/session.ts'

const columns = 80

test('the help of every command fits a terminal of 80 columns', t => {
  const commands = withThoseBelow(createProgram(worldOf(process), () => {}))
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
