import { type Route, route } from '../../auth/route.ts'
import { type SecretName, secretAt } from '../../events/secrets.ts'
import { Refusal } from '../../platform/refusal.ts'
import { isJobVariable } from '../../schemas/jobs/variables.ts'
import { secretLimits } from '../../schemas/secret-limits.ts'
import { secretInput, secretPath, secretRemoved, secretSet } from '../../schemas/secrets.ts'
import type { ValidationError } from '../../schemas/shared.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { Invalid } from '../../schemas/validate.ts'
import { commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { sealedFor } from '../rules/secret-values.ts'
import { removeSecret, setSecret } from './decide.ts'

const common = {
  path: '/api/secrets/{name}',
  credential: 'person',
  tag: 'secrets',
  params: secretPath,
} as const

export const secretRoutes = (deps: Deps): Route[] => [
  route({
    ...common,
    method: 'PUT',
    reach: 'own_name',
    summary:
      'Set one of your secrets, which only your own jobs receive; no response contains its value',
    body: secretInput,
    response: secretSet,
    refusals: ['conflict'],
    async handle(request) {
      const { caller, params, body } = request
      refuseBadSecret(params.name, body.value)
      const name = { owner: caller.username, name: params.name }
      const sealed = deps.sealing.seal(body.value, sealedFor(name))
      let existed = false
      const { state } = await commit(deps, request, secretAt(name), {
        // A person's secrets are counted one after the other.
        locks: [`secrets of ${name.owner}`],
        decide(secret) {
          existed = secret !== null
          return setSecret(name)
        },
        alongside: tx => store(tx, name, sealed),
      })
      if (!state) throw new Error('a secret that was just set is missing')
      return { name: name.name, set_at: toTimestamp(new Date(state.set_at)), created: !existed }
    },
  }),
  route({
    ...common,
    method: 'DELETE',
    reach: 'self',
    summary: 'Remove one of your secrets, with its value',
    response: secretRemoved,
    refusals: ['not_found'],
    async handle(request) {
      const name = { owner: request.caller.username, name: request.params.name }
      await commit(deps, request, secretAt(name), {
        decide: secret => removeSecret(secret, name),
        alongside: tx =>
          tx.query('delete from write.secret where owner = $1 and name = $2', [
            name.owner,
            name.name,
          ]),
      })
      return { name: name.name, removed: true }
    },
  }),
]

/** Rules beyond the schema; no error contains the value. */
function refuseBadSecret(name: string, value: string): void {
  const errors: ValidationError[] = []
  if (!isJobVariable(name))
    errors.push({
      loc: ['path', 'name'],
      msg: 'Value error, a secret is named like an environment variable that a job may set: letters, digits and _, and none that changes how programs are found or loaded',
      type: 'value_error',
    })
  const bytes = Buffer.byteLength(value)
  if (bytes > secretLimits.bytes)
    errors.push({
      loc: ['body', 'value'],
      msg: `Value error, the value has ${bytes} bytes as UTF-8; a secret may have ${secretLimits.bytes}`,
      type: 'value_error',
    })
  if (value.includes('\0'))
    errors.push({
      loc: ['body', 'value'],
      msg: 'Value error, an environment variable cannot contain null characters',
      type: 'value_error',
    })
  if (errors.length > 0) throw new Invalid(errors)
}

async function store(tx: Transaction, { owner, name }: SecretName, sealed: string): Promise<void> {
  await tx.query(
    `insert into write.secret (owner, name, sealed) values ($1, $2, $3)
      on conflict (owner, name) do update set sealed = excluded.sealed`,
    [owner, name, sealed],
  )
  const { rows } = await tx.query<{ count: number }>(
    'select count(*) as count from write.secret where owner = $1',
    [owner],
  )
  if ((rows[0]?.count ?? 0) > secretLimits.ofPerson)
    throw new Refusal(
      'conflict',
      `You have ${secretLimits.ofPerson} secrets, the most that a person may have; remove one first`,
    )
}
