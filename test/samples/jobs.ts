import { asExecutor, endedWell } from '../servers/as-executor.ts'
import { withoutOwner } from './missing-id.ts'
import type { Sample, SampleServer } from './sample.ts'

const spec = {
  resources: { profile: 'spare' },
  scheduling: { not_before: '2099-01-01T00:00:00+00:00' },
}

const jobOf = (project: unknown, lock: unknown, spec: object) => ({
  api: 'forge/v2',
  metadata: { name: 'sample', project },
  lock,
  spec,
})

/** A job that is held until the next century. */
export const jobSample: Sample = {
  slice: 'jobs',
  uses: [
    "select 'run', run_id, 'run', run_id, 'checkpoints' from write.job_state",
    `select 'artifact', init_from, 'run', run_id, 'init_from' from write.job_state
   where init_from is not null and serving is null`,
    `select 'upload', upload_id, 'run', run_id, 'package' from write.job_state where upload_id is not null`,
    `select 'run', retry_of, 'run', run_id, 'retry' from write.job_state where retry_of is not null`,
    `select 'run', clone_of, 'run', run_id, 'clone' from write.job_state where clone_of is not null`,
  ],
  async make({ ask, made }) {
    const { project, lock } = made.fields
    const { run_id } = await ask<{ run_id: string }>({
      method: 'POST',
      path: '/api/jobs',
      body: jobOf(project, lock, spec),
    })
    return { nouns: { jobs: { run_id }, queue: { run_id } }, fields: { api: 'forge/v2', spec } }
  },
  missing({ nouns }) {
    const run_id = withoutOwner(nouns.jobs?.run_id)
    return { nouns: { jobs: { run_id }, queue: { run_id } } }
  },
  hidden: ['jobs', 'queue'],
  lists: { '/api/jobs': 'its people' },
  tables: {
    jobs: {
      seenBy: 'members',
      isFilled: true,
      cells: ({ project }) => ({ short_id: `${project}-1` }),
    },
    job_attempts: { seenBy: 'members', isOfRun: true },
  },
  changes: {
    'POST /api/jobs/preflight': { leavesNoEvent: 'changes nothing' },
    'POST /api/jobs/{run_id}/clone': { leavesNoEvent: 'changes nothing' },
    'PATCH /api/jobs/{run_id}': {
      path: async server => `/api/jobs/${await runningJob(server)}`,
      body: () => ({ priority: 1 }),
    },
    'POST /api/jobs/{run_id}/retry': {
      path: async server => `/api/jobs/${await endedJob(server, 'stop')}/retry`,
    },
    'POST /api/jobs/{run_id}/pause': {
      path: async server => `/api/jobs/${await runningJob(server)}/pause`,
    },
    'POST /api/jobs/{run_id}/resume': {
      path: async server => `/api/jobs/${await endedJob(server, 'pause')}/resume`,
    },
  },
}

/** A job of the operator whose first attempt is running. */
async function runningJob({ send, pool, fixtures, credentials }: SampleServer): Promise<string> {
  const { project, lock } = fixtures.operator.fields
  const submitted = await send({
    method: 'POST',
    path: '/api/jobs',
    body: jobOf(project, lock, { resources: spec.resources }),
    headers: credentials.operator,
  })
  const { run_id } = JSON.parse(submitted.text)
  const executor = asExecutor(pool)
  await executor.schedule(run_id, [])
  await executor.executorRunning(run_id, 1, new Date().toISOString())
  return run_id
}

/** A job of the operator whose attempt ended because somebody stopped or paused it. */
async function endedJob(server: SampleServer, act: 'stop' | 'pause'): Promise<string> {
  const run_id = await runningJob(server)
  await server.send({
    method: 'POST',
    path: `/api/jobs/${run_id}/${act}`,
    headers: server.credentials.operator,
  })
  await asExecutor(server.pool).exited(run_id, 1, endedWell())
  return run_id
}
