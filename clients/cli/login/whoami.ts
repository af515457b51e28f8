import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type World } from '../program/session.ts'
import { showFacts } from '../program/show-one.ts'
import { version } from '../program/version.ts'
import { toJson } from '../terminal/harmless.ts'

type Quota = {
  max_concurrent_gpus: number
  max_concurrent_jobs: number
  daily_gpu_hours: number
}
type Me = {
  username: string
  role: string
  quota: Quota
  usage: { concurrent_gpus: number; concurrent_jobs: number; gpu_hours_today: string }
  token: { expires_at: string }
}
type Versions = { server: string; core: string; api: string }

export const describeWhoami = describe({
  text: 'who is signed in where, with which quota and until when',
})

export async function whoami(world: World, options: CommonOptions): Promise<ExitCode> {
  const { api, terminal, isJson, context, signedInUntil } = await openSignedIn(world, options)
  const [me, versions] = await Promise.all([
    api.get<Me>('/api/auth/me'),
    api.get<Versions>('/api/version'),
  ])
  if (isJson) {
    terminal.data(
      toJson({ host: api.host, context, versions: { ...versions, cli: version }, ...me }),
    )
    return exitCode.ok
  }
  const { quota, usage } = me
  const hours = quota.daily_gpu_hours === 0 ? 'no limit' : `of ${quota.daily_gpu_hours}`
  const rows: [string, string][] = [
    ['user', `${me.username} (${me.role})`],
    ['host', context === null ? api.host : `${api.host} (context ${context})`],
    ['GPUs held', held(usage.concurrent_gpus, quota.max_concurrent_gpus)],
    ['jobs held', held(usage.concurrent_jobs, quota.max_concurrent_jobs)],
    ['GPU-hours today', `${usage.gpu_hours_today} (${hours})`],
    ['signed in until', signedInUntil ?? me.token.expires_at],
    [
      'versions',
      `server ${versions.server}, JobSpec dialect ${versions.api}, this command ${version}`,
    ],
  ]
  showFacts(terminal, rows, 16)
  return exitCode.ok
}

/** `███░░░░░  3 of 8` */
function held(used: number, limit: number): string {
  const cells = 10
  const full = limit === 0 ? 0 : Math.min(cells, Math.ceil((used / limit) * cells))
  return `${'█'.repeat(full)}${'░'.repeat(cells - full)}  ${used} of ${limit}`
}
