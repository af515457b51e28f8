import { join } from 'node:path'
import type { Command } from 'commander'
import { runHere } from './run-here.ts'
import type { World } from './session.ts'

type ServeOptions = { roles?: string }

const server = join(import.meta.dirname, '../../../main.ts')

export function describeServe(command: Command): Command {
  return command
    .description('start the server on this machine; its settings are SERVICE_* variables')
    .option('--roles <list>', 'some of its parts only (SERVICE_ROLES)')
}

/** Runs the server in a child process: the CLI itself only speaks HTTP. */
export const serve = (world: World, { roles }: ServeOptions): Promise<number> =>
  runHere(world, server, {
    env: { ...world.env, ...(roles !== undefined && { SERVICE_ROLES: roles }) },
  })
