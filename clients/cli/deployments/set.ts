import type { Command } from 'commander'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type World } from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { findDeployment, pathOf } from './find.ts'

export type ScaleOptions = {
  min?: string
  max?: string
  target?: string
  idleSuspend?: string
  maxConcurrency?: string
}

export const withScaleOptions = (command: Command): Command =>
  command
    .option('--min <count>', 'engines that always run')
    .option('--max <count>', 'the most engines that run when requests call for them')
    .option('--target <count>', 'requests at once that one engine takes')
    .option('--idle-suspend <seconds>', 'suspend it after so long without a request, or never')
    .option('--max-concurrency <count>', 'requests at once that it takes at all')

export const describeDeploySet = (command: Command): Command =>
  withScaleOptions(
    command
      .argument('<deployment>', 'name or id')
      .description('change how many engines serve it, and when it is suspended')
      .option('--name <name>', 'another name; the address stays'),
  )

/** What is given of it, as the API takes it. */
export function scaleOf({ min, max, target, idleSuspend, maxConcurrency }: ScaleOptions) {
  const part = (entries: [string, number | null | undefined][]) =>
    Object.fromEntries(entries.filter(([, value]) => value !== undefined))
  const replicas = part([
    ['min', countOf('--min', min)],
    ['max', countOf('--max', max)],
  ])
  const autoscaling = part([
    ['target', countOf('--target', target)],
    ['idle_suspend_s', idleSuspend === 'never' ? null : countOf('--idle-suspend', idleSuspend)],
  ])
  const limits = part([['max_concurrency', countOf('--max-concurrency', maxConcurrency)]])
  return Object.fromEntries(
    Object.entries({ replicas, autoscaling, limits }).filter(
      ([, value]) => Object.keys(value).length > 0,
    ),
  )
}

function countOf(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text)) throw usageFailure(`${flag} ${text}: give a whole number`)
  return Number(text)
}

export async function deploySet(
  world: World,
  named: string,
  { name, ...options }: CommonOptions & ScaleOptions & { name?: string },
): Promise<ExitCode> {
  const body = { ...(name !== undefined && { name }), ...scaleOf(options) }
  if (Object.keys(body).length === 0)
    throw usageFailure('Say what to change, e.g. --max 4', 'hint: forge deploy set --help')
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const { deployment_id } = await findDeployment(api, named)
  const done = await api.patch<{ changed: boolean }>(pathOf(deployment_id), body)
  if (isJson) terminal.data(toJson(done))
  else terminal.data(done.changed ? `${deployment_id} was changed` : 'it was so already')
  return exitCode.ok
}
