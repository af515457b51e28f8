import { writeFile } from 'node:fs/promises'
import { stringify } from 'yaml'
import { segment } from '../api/client.ts'
import type { Admission } from '../api/records.ts'
import { describe, repeated } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { pathIn } from '../program/process.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type Texts,
  type World,
} from '../program/session.ts'
import { followRun } from '../runs/follow/follow.ts'
import { findRun } from '../runs/follow/run-events.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Checkpoint, continuesText } from './checkpoints.ts'
import { eachRun } from './each-run.ts'
import { withoutDefaults } from './spec/defaults.ts'
import { variable } from './spec/given.ts'
import type { SpecTree } from './spec/job-spec.ts'

type RetryOptions = CommonOptions & Flags<'follow'> & { env: string[] }
type Retried = Admission & { retry_of: string; checkpoint: Checkpoint | null }

export const describeRetry = describe({
  text: 'submit ended jobs again, each to continue from its newest checkpoint',
  operands: { '<runs...>': 'run ids or short ids of jobs that have ended' },
  options: {
    '--env <name=value>': repeated(
      'a variable for the new job; secrets of the old one are forgotten',
    ),
    '--follow': 'show the run until it has ended; the exit code says how',
  },
})

export async function retry(
  world: World,
  ids: readonly string[],
  options: RetryOptions,
): Promise<ExitCode> {
  if (options.follow && ids.length > 1) throw usageFailure('--follow follows one run')
  const session = await openSignedIn(world, options)
  const env = Object.fromEntries(options.env.map(variable))
  let followed: Retried | null = null
  const code = await eachRun(ids, 'retried', async id => {
    followed = await retryOne(session, id, env)
  })
  const retried = followed as Retried | null
  if (!options.follow || retried === null) return code
  const run = await findRun(session.api, retried.run_id)
  return followRun(session, run, { keys: [], full: false })
}

async function retryOne(
  { api, terminal, isJson }: Session,
  id: string,
  env: Record<string, string>,
): Promise<Retried> {
  const path = `/api/jobs/${segment(id)}/retry`
  const reply = await api.post<Retried>(path, { env }, { creates: true })
  const { short_id, state, checkpoint } = reply
  if (!isJson) terminal.note(`${short_id} repeats ${id}: ${state}; ${continuesText(checkpoint)}`)
  terminal.data(isJson ? toJson(reply) : reply.run_id)
  return reply
}

type CloneOptions = CommonOptions & Texts<'output'>

export const describeClone = describe({
  text: 'print the JobSpec of a job, to edit and submit',
  operands: { '<run>': 'run id or short id of a job' },
  options: {
    '-o, --output <file>': 'write it to this file, which must not exist',
  },
  after: `
Values that the job left to their defaults are left out, and secret values of env are masked: fill them in.

Examples:
  forge clone demo-12 -o job.yaml
  forge clone demo-12 | forge submit -f - --param lr=0.01`,
})

export async function clone(world: World, id: string, options: CloneOptions): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { terminal, isJson, process } = session
  const spec = await session.api.post<SpecTree>(`/api/jobs/${segment(id)}/clone`, {})
  const text = isJson ? toJson(spec) : stringify(withoutDefaults(spec)).trimEnd()
  if (options.output === undefined) {
    terminal.data(text)
    return exitCode.ok
  }
  await writeFile(pathIn(process, options.output), `${text}\n`, { flag: 'wx' }).catch(error => {
    throw usageFailure(`${options.output} cannot be written: ${error.message}`)
  })
  terminal.note(`${options.output} is the JobSpec of ${id}; forge submit -f ${options.output}`)
  return exitCode.ok
}
