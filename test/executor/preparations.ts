import { randomUUID } from 'node:crypto'
import type { PreparationCommand } from '../../executor/attempts/attempts-executor.ts'
import type { Preparation } from '../../executor/port.ts'

const commands = new Map<string, string[]>()

/** A preparation by this command, on executors of this process that were opened with `givenCommand`. */
export function preparedBy(
  command: string[],
  { env = {}, input = '{}' }: { env?: Record<string, string>; input?: string } = {},
): Preparation {
  const digest = randomUUID()
  commands.set(digest, command)
  return {
    recipe: { name: 'given', version: '1', digest },
    package: null,
    stored: [],
    datasets: [],
    environments: [],
    ...{ model: null, adapter: null },
    volumes: [],
    env,
    input,
  }
}

export const givenCommand: PreparationCommand = async (_, { recipe: { digest } }) => {
  const command = commands.get(digest)
  if (!command) throw new Error('this process made no such preparation')
  return command
}
