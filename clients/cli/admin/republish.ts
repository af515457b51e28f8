import { join } from 'node:path'
import { describe } from '../program/describe.ts'
import { runHere } from '../program/run-here.ts'
import type { Flags, World } from '../program/session.ts'

const program = join(import.meta.dirname, '../../../server/republish.ts')

export const describeRepublish = describe({
  text: 'on the host of the server, while it is stopped: publish all decisions to Kafka again',
  options: {
    '--new-log':
      'read every topic from its beginning, because Kafka has none of the earlier records',
  },
})

/** Runs in a child process with the settings of the server (SERVICE_*). */
export const republish = (world: World, { newLog }: Flags<'newLog'>): Promise<number> =>
  runHere(world, program, { args: newLog ? ['--new-log'] : [] })
