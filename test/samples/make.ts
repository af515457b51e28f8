import { adminPassword, passwordOf } from '../servers/api.ts'
import { samples } from './all.ts'
import type { Fixture, Made, SampleServer, SignedIn } from './sample.ts'
import { asked, bearer, type Send, signIn } from './send.ts'

const friend = 'friend-of-all'

/** As JSON. */
export type Samples = Pick<SampleServer, 'people'> & {
  made: Record<keyof SampleServer['people'], Made>
  /** An ended session of the administrator. */
  ended: SignedIn
}

type On = Pick<SampleServer, 'send' | 'pool' | 'dataDir'>

/** Creates people who each have one of everything. */
export async function makeEverything(on: On): Promise<Samples> {
  const { send } = on
  const admin = await signIn(send, { username: 'admin', password: adminPassword })
  const operator = await newPerson(send, admin, 'ada-operator')
  const another = await newPerson(send, admin, 'bob-another')
  await newPerson(send, admin, friend)
  await asked(send, admin, {
    method: 'PUT',
    path: '/api/admin/profiles/spare',
    body: { series: 'X', gpus_per_node: 1, executor: 'local' },
  })
  // At the same time, because most of it is waiting.
  const [ofAdmin, ofOperator, ofAnother] = await Promise.all([
    makeSamples(on, { owner: admin, friend }),
    makeSamples(on, { owner: operator, friend }),
    makeSamples(on, { owner: another, friend }),
  ])
  const made = { admin: ofAdmin, operator: ofOperator, another: ofAnother }
  const ended = await signIn(send, admin)
  await send({ method: 'POST', path: '/api/auth/logout', headers: bearer(ended.token) })
  return { people: { admin, operator, another }, made, ended }
}

type People = { owner: SignedIn; friend: string }

/** Creates one of everything for a person, and reads the runs, which waits until everything is readable. */
async function makeSamples({ send, pool, dataDir }: On, { owner, friend }: People): Promise<Made> {
  const made: Made = { nouns: {}, fields: {}, tokens: { ingest: '', ended: '' } }
  const making = {
    owner,
    friend,
    made,
    send,
    ...{ pool, dataDir },
    ask: <T>(call: Parameters<Send>[0]) => asked<T>(send, owner, call),
    async report(route: string, body: object) {
      const { run_id } = made.nouns.runs ?? {}
      await asked(
        send,
        { token: made.tokens.ingest },
        { method: 'POST', path: `/api/ingest/${route}`, body: { run_id, ...body } },
      )
    },
  }
  for (const { make } of samples) {
    const { nouns, fields, tokens } = (await make?.(making)) ?? {}
    Object.assign(made.nouns, nouns)
    Object.assign(made.fields, fields)
    Object.assign(made.tokens, tokens)
  }
  const { runs, jobs } = made.nouns
  for (const noun of [runs, jobs])
    await making.ask({ method: 'GET', path: `/api/runs/${noun?.run_id}` })
  return made
}

/** Names of the same shape for things that do not exist; `whose` makes several sets different. */
export function missingOf(own: Fixture, whose: string): Fixture {
  const missing = { nouns: { ...own.nouns }, fields: { ...own.fields } }
  for (const sample of samples) {
    const { nouns, fields } = sample.missing?.(own, whose) ?? {}
    Object.assign(missing.nouns, nouns)
    Object.assign(missing.fields, fields)
  }
  return missing
}

export async function newPerson(send: Send, admin: SignedIn, username: string): Promise<SignedIn> {
  const password = passwordOf(username)
  await asked(send, admin, {
    method: 'POST',
    path: '/api/admin/users',
    body: { username, role: 'operator', password },
  })
  return signIn(send, { username, password })
}
