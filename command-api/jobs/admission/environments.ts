import type { Pool } from 'pg'
import type { JobSpec } from '../../../schemas/jobs/jobspec.ts'
import { argsFaults } from '../../../schemas/rl-environments/args.ts'
import { type EnvironmentOfJob, resolveEnvironment } from '../../rules/rl-environment-access.ts'

type Work = JobSpec['spec']
type Asked = Work['environments'][number]
type Lookup = { pool: Pool; caller: { username: string; role: string } }

/** `environments`: as the stored spec names them, with their digests; `deprecated`: versions, `owner/name@0.2.1`. */
export type FoundEnvironments = {
  faults: string[]
  deprecated: string[]
  environments: Work['environments']
}

/** The RL environments that the spec names; hidden ones look missing. */
export async function resolveEnvironments(
  { environments, secrets }: Pick<Work, 'environments' | 'secrets'>,
  { pool, caller }: Lookup,
): Promise<FoundEnvironments> {
  const answers = await Promise.all(
    environments.map(async asked => ({
      asked,
      found: await resolveEnvironment(pool, asked.ref, caller),
    })),
  )
  const refs = environments.map(({ ref }) => ref)
  const repeated = refs.filter((ref, index) => refs.indexOf(ref) < index)
  return {
    faults: [
      ...[...new Set(repeated)].map(ref => `The environment ${ref} is named more than once`),
      ...answers.flatMap(({ asked, found }) =>
        found ? faultsOf(found, asked, secrets) : `No such environment: ${asked.ref}`,
      ),
    ],
    deprecated: answers.flatMap(({ found }) => (found?.state === 'deprecated' ? found.ref : [])),
    environments: answers.map(({ asked, found }) => ({
      ...asked,
      digest: found?.digest ?? asked.digest,
    })),
  }
}

function faultsOf(
  { ref, digest, state, manifest }: EnvironmentOfJob,
  asked: Asked,
  secrets: readonly string[],
): string[] {
  if (state === 'building') return [`The environment ${ref} is still being built`]
  if (state === 'failed') return [`The environment ${ref} failed its build; its log says why`]
  if (asked.digest !== null && asked.digest !== digest)
    return [`The environment ${ref} has the digest ${digest}, not ${asked.digest}`]
  const { args_schema, args_default, secrets_required } = manifest
  return [
    ...argsFaults(args_schema, { ...args_default, ...asked.args }).map(
      fault => `The environment ${ref}: ${fault}`,
    ),
    ...secrets_required
      .filter(name => !secrets.includes(name))
      .map(name => `The environment ${ref} needs the secret ${name}; add it to spec.secrets`),
  ]
}
