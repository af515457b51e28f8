import { rlEnvironmentAt } from '../../events/rl-environments.ts'
import { Refusal } from '../../platform/refusal.ts'
import { environmentArchive, loadEnvironment } from '../../recipes/rl-environment.ts'
import type { UploadedFiles } from '../../recipes/uploaded-files.ts'
import { environmentReference } from '../../schemas/rl-environments/reference.ts'
import type { RlEnvironmentInput } from '../../schemas/rl-environments/rl-environments.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { create } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import type { Asking } from '../rules/access.ts'
import { roleOf } from '../rules/enabled-person.ts'
import { refusingFaults } from '../rules/read-archive.ts'
import { takeUploads } from '../rules/registered-uploads.ts'
import { versionOf } from '../rules/versions.ts'
import { publishVersion } from './decide.ts'
import type { FindDeployment } from './port.ts'
import { saveEnvironment } from './rows.ts'

export type PublishPorts = { recipeFiles: UploadedFiles; findJudge: FindDeployment }

type Publishing = HttpAsked & { caller: Asking; body: RlEnvironmentInput }

/** Makes an uploaded archive a version of an environment; it is then built on the machine of an executor. */
export async function publish(
  deps: Deps,
  { recipeFiles, findJudge: findDeployment }: PublishPorts,
  request: Publishing,
) {
  const { caller, body } = request
  const owner = await ownerOf(deps, caller, body)
  const { upload_id, sha256, size_bytes } = await findArchive(deps, body, caller)
  const found = await refusingFaults('environment', () =>
    recipeFiles.unpacked(deps.uploads.fileOf(sha256), loadEnvironment, archiveWithin(deps)),
  )
  const { deployment = null } = body
  const chosen = deployment === null ? null : await findDeployment(caller, deployment)
  const made = {
    ...{ ...found, owner, upload_id, archive_sha256: sha256, archive_bytes: size_bytes },
    deployment_id: chosen?.deployment_id ?? null,
    visibility: body.visibility,
  }
  const target = rlEnvironmentAt(made)
  return create(deps, request, target, {
    async make(work) {
      // Once more in this transaction, which the deletion of unused uploads waits for.
      await takeUploads(work.tx, [upload_id], { ...ofUpload(caller), now: work.now })
      const { events, before, state } = await work.decide(target, {
        decide: environment => publishVersion(environment, made),
        alongside: saveEnvironment,
      })
      const version = versionOf('environment', state, made)
      const existed = before?.versions.some(one => one.version === found.version) ?? false
      const isBuilt = events.some(({ type }) => type === 'environment.published')
      return {
        ref: environmentReference(made),
        ...{ environment: `${owner}/${found.name}`, owner },
        ...{ version: version.version, digest: version.digest, state: version.state },
        notice:
          isBuilt && chosen === null
            ? 'No deployment was named: the version is built without smoke rollouts, and has no baseline'
            : null,
        created: !existed,
      }
    },
  })
}

/** Unpacked, no larger than any other archive may be. */
const archiveWithin = ({ config }: Deps) => ({
  ...environmentArchive,
  limitBytes: Math.min(environmentArchive.limitBytes, config.maxUploadMb * 1024 * 1024),
})

const ofUpload = ({ username }: Asking) => ({ owner: username, purpose: 'environment' }) as const

/** Everybody publishes for themselves, and admins for others. */
async function ownerOf(
  { pool }: Deps,
  { username, role }: Asking,
  { owner = username }: RlEnvironmentInput,
): Promise<string> {
  if (owner === username) return owner
  if (role !== 'admin')
    throw new Refusal('forbidden', `Only ${owner} and admins may publish environments of ${owner}`)
  if ((await roleOf(pool, owner)) === null) throw new Refusal('not_found', `No such user: ${owner}`)
  return owner
}

async function findArchive({ pool, now }: Deps, { upload_id }: RlEnvironmentInput, caller: Asking) {
  const [found] = await takeUploads(pool, [upload_id], { ...ofUpload(caller), now: now() })
  if (found) return found
  throw new Refusal('invalid', `No such upload of yours: ${upload_id}`, {
    code: 'environment.no_upload',
    hint: 'Upload the archive with POST /api/uploads (purpose "environment") and register it first',
  })
}
