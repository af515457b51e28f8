import { samples } from './all.ts'
import type { Fixture, Made, SampleServer, SignedIn } from './sample.ts'
import { asked, type Send, signIn } from './send.ts'

type People = { owner: SignedIn; friend: string }

/** Creates one of everything for a person, and reads the runs, which waits until everything is readable. */
export async function makeSamples(
  { send, pool }: Pick<SampleServer, 'send' | 'pool'>,
  { owner, friend }: People,
): Promise<Made> {
  const made: Made = { nouns: {}, fields: {}, tokens: { ingest: '', ended: '' } }
  const making = {
    owner,
    friend,
    made,
    send,
    pool,
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
  const { password } = await asked<{ password: string }>(send, admin, {
    method: 'POST',
    path: '/api/admin/users',
    body: { username, role: 'operator' },
  })
  return signIn(send, username, password)
}
