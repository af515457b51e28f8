import { join } from 'node:path'
import { describe } from './describe.ts'
import { runHere } from './run-here.ts'
import type { Texts, World } from './session.ts'

type ServeOptions = Texts<'roles'>

const server = join(import.meta.dirname, '../../../main.ts')

export const describeServe = describe({
  text: 'start the server on this machine; its settings are SERVICE_* variables',
  options: {
    '--roles <list>': 'some of its parts only (SERVICE_ROLES)',
  },
})

/** Runs the server in a child process: the CLI itself only speaks HTTP. */
export const serve = (world: World, { roles }: ServeOptions): Promise<number> =>
  runHere(world, server, {
    env: { ...world.env, ...(roles !== undefined && { SERVICE_ROLES: roles }) },
  })
