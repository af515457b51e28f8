import type { Command } from 'commander'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type World } from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'

type Maintenance = {
  enabled: boolean
  message: string | null
  changed_at: string | null
  changed_by: string | null
}

type OnOptions = CommonOptions & { message?: string }

const path = '/api/admin/maintenance'

export const describeMaintenanceOn = (command: Command): Command =>
  command
    .description(
      'return 503 for everything except version, health, sign-in by password and this switch',
    )
    .option('-m, --message <text>', 'shown to everybody who gets the 503')

export const describeMaintenanceOff = (command: Command): Command =>
  command.description('switch maintenance off')

export const describeMaintenanceStatus = (command: Command): Command =>
  command.description('whether maintenance is on, and who switched it on')

export async function maintenanceOn(world: World, options: OnOptions): Promise<ExitCode> {
  const { api } = await openSignedIn(world, options)
  const body = {
    enabled: true,
    ...(options.message !== undefined && { message: options.message }),
  }
  return show(world, options, await api.put<Maintenance>(path, body))
}

export async function maintenanceOff(world: World, options: CommonOptions): Promise<ExitCode> {
  const { api } = await openSignedIn(world, options)
  return show(world, options, await api.put<Maintenance>(path, { enabled: false }))
}

export async function maintenanceStatus(world: World, options: CommonOptions): Promise<ExitCode> {
  const { api } = await openSignedIn(world, options)
  return show(world, options, await api.get<Maintenance>(path))
}

function show({ terminal }: World, { json }: CommonOptions, state: Maintenance): ExitCode {
  const { enabled, message, changed_at, changed_by } = state
  const since = changed_at === null ? '' : ` since ${changed_at}, by ${changed_by}`
  if (json) terminal.data(toJson(state))
  else terminal.data(enabled ? `in maintenance${since}: ${message}` : `serving${since}`)
  return exitCode.ok
}
