import type { Static } from 'typebox'
import type { rlEnvironmentPublished } from '../../../schemas/rl-environments/rl-environments.ts'
import { uploadArchive } from '../api/upload.ts'
import { findDeployment } from '../deployments/find.ts'
import { projectFiles, refuseSensitive } from '../jobs/package/files.ts'
import { pack } from '../jobs/package/pack.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, Failure, usageFailure } from '../program/failure.ts'
import { pause } from '../program/pause.ts'
import { pathIn } from '../program/process.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type Texts,
  type World,
} from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { showRollouts, type VersionDetail } from './environments.ts'
import { pathOfVersion } from './reference.ts'

type Published = Static<typeof rlEnvironmentPublished>
type PushOptions = CommonOptions &
  Texts<'deployment' | 'owner'> &
  Flags<'public' | 'private'> & { wait: boolean }

export const describeEnvironmentPush = describe({
  text: 'publish a folder with environment.yaml as a version of an RL environment',
  operands: { '[folder]': 'by default the current one' },
  options: {
    '--deployment <deployment>': 'four rollouts with its model are the baseline of the version',
    '--public': 'everybody may see and use it',
    '--private': 'only you and administrators, as at first',
    '--owner <username>': 'for administrators: publish for somebody else',
    '--no-wait': 'do not wait for the build',
  },
  after: `
The exit code is 1 if the build or a rollout failed; forge env log shows why. Try it with forge env test first.`,
})

export async function environmentPush(
  world: World,
  folder: string | undefined,
  options: PushOptions,
): Promise<ExitCode> {
  if (options.public && options.private)
    throw usageFailure('--public and --private exclude each other')
  await checkFolder(world, folder)
  const session = await openSignedIn(world, options)
  const upload_id = await send(world, session, folder)
  const { deployment, owner } = options
  const found = deployment === undefined ? null : await findDeployment(session.api, deployment)
  const body = {
    upload_id,
    ...(owner !== undefined && { owner }),
    ...(found && { deployment: found.deployment_id }),
    ...(options.public && { visibility: 'public' }),
    ...(options.private && { visibility: 'private' }),
  }
  const made = await session.api.post<Published>('/api/environments', body, { creates: true })
  return showMade(session, made, options.wait ? await untilBuilt(session, made) : null)
}

/** The environment in a folder of this machine, with the checks of the server. */
export async function checkFolder({ process }: Pick<World, 'process'>, folder = '.') {
  const [{ FaultyRecipe }, { loadEnvironment }] = await Promise.all([
    import('../../../recipes/catalogue.ts'),
    import('../../../recipes/rl-environment.ts'),
  ])
  const directory = pathIn(process, folder)
  try {
    return { directory, ...(await loadEnvironment(directory)) }
  } catch (error) {
    if (error instanceof FaultyRecipe) throw new Failure(exitCode.refused, error.message)
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw usageFailure(`${folder} has no environment.yaml`)
    throw error
  }
}

async function send({ process }: World, { api, terminal }: Session, folder = '.') {
  const files = await projectFiles(pathIn(process, folder), folder)
  refuseSensitive(files)
  const packed = await pack(files)
  try {
    return await uploadArchive(api, packed, {
      purpose: 'environment',
      onProgress: (sent, total) =>
        terminal.status(`environment: ${Math.floor((sent / total) * 100)} % sent`),
    })
  } finally {
    terminal.status(null)
    await packed.remove()
  }
}

/** `version`: null if nobody waits for its build. */
function showMade(session: Session, made: Published, version: VersionDetail | null): ExitCode {
  const { terminal, isJson } = session
  if (isJson) terminal.data(toJson(version ?? made))
  else {
    if (!made.created) terminal.note(`${made.ref} exists with the same files`)
    if (made.notice !== null) terminal.note(made.notice)
    terminal.data(made.ref)
    if (version) showBuilt(session, version)
  }
  return version?.state === 'failed' ? exitCode.faulty : exitCode.ok
}

function showBuilt(session: Session, { ref, state, error, rollouts }: VersionDetail): void {
  if (rollouts.length > 0) showRollouts(session, rollouts)
  if (state === 'failed') session.terminal.note(`${error}\nThe log: forge env log ${ref}`)
}

/** Pauses between two looks, in milliseconds. */
const lookMs = { first: 200, most: 2_000 }

/** Interrupting it does not stop the build. */
async function untilBuilt({ api, terminal }: Session, { ref }: Published): Promise<VersionDetail> {
  for (let ms = lookMs.first; ; ms = Math.min(ms * 1.5, lookMs.most)) {
    const version = await api.get<VersionDetail>(pathOfVersion(ref))
    if (version.state !== 'building') {
      terminal.status(null)
      return version
    }
    terminal.status(`${ref} is built and tried by the server; Ctrl-C stops waiting only`)
    await pause(ms)
  }
}
