import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type Texts, type World } from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { findDeployment, oneDeployment, pathOfDeployment } from './find.ts'

export type ScaleOptions = Texts<
  'min' | 'max' | 'target' | 'idleSuspend' | 'maxConcurrency' | 'timeout'
>

export const scaleOptions = {
  '--min <count>': 'engines that always run',
  '--max <count>': 'the most engines that run under load',
  '--target <count>': 'the target for concurrent requests per engine',
  '--idle-suspend <seconds>': 'suspend it after this time without a request, or never',
  '--max-concurrency <count>': 'the most concurrent requests in total',
  '--timeout <seconds>': 'the longest silence of an engine, and the longest upload of a request',
}

export type OriginOptions = { allowOrigin?: string[] }

export const originOptions = {
  '--allow-origin <origins...>':
    'the origins whose web pages may call it, e.g. https://app.example; * for all, or none',
}

/** The whole list: it replaces the one before. */
export function originsOf({ allowOrigin }: OriginOptions) {
  if (allowOrigin === undefined) return {}
  const isNone = allowOrigin.includes('none')
  if (isNone && allowOrigin.length > 1)
    throw usageFailure('--allow-origin none: it stands alone, and removes all origins')
  return { allowed_origins: isNone ? [] : allowOrigin }
}

type GateOptions = { gate?: string[] }

/** The whole list: it replaces the one before. */
function gatesOf({ gate }: GateOptions) {
  if (gate === undefined) return {}
  const isNone = gate.includes('none')
  if (isNone && gate.length > 1)
    throw usageFailure('--gate none: it stands alone, and removes all benchmarks')
  return { benchmark_gates: isNone ? [] : gate }
}

/** The given options, as the API expects them. */
export function scaleOf({ min, max, target, idleSuspend, maxConcurrency, timeout }: ScaleOptions) {
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
  const limits = part([
    ['max_concurrency', countOf('--max-concurrency', maxConcurrency)],
    ['timeout_s', countOf('--timeout', timeout)],
  ])
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

export const describeDeploySet = describe({
  text: 'change how many engines serve it, when it is suspended, its limits, which web pages may call it, and which benchmarks gate promotions',
  operands: oneDeployment,
  options: {
    '--name <name>': 'another name; the address stays',
    ...scaleOptions,
    ...originOptions,
    '--gate <benchmarks...>':
      'the benchmarks whose scores a promotion must not lower, e.g. gsm8k@1; or none',
  },
})

export async function deploySet(
  world: World,
  named: string,
  { name, ...options }: CommonOptions & ScaleOptions & OriginOptions & GateOptions & Texts<'name'>,
): Promise<ExitCode> {
  const body = {
    ...(name !== undefined && { name }),
    ...scaleOf(options),
    ...originsOf(options),
    ...gatesOf(options),
  }
  if (Object.keys(body).length === 0)
    throw usageFailure('Say what to change, e.g. --max 4', 'hint: forge deploy set --help')
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const { deployment_id } = await findDeployment(api, named)
  const done = await api.patch<{ changed: boolean }>(pathOfDeployment(deployment_id), body)
  if (isJson) terminal.data(toJson(done))
  else terminal.data(done.changed ? `${deployment_id} was changed` : 'nothing changed')
  return exitCode.ok
}
