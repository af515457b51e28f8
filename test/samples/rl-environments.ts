import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { stringify } from 'yaml'
import { commit } from '../../command-api/commit/commit.ts'
import { environmentBuilder } from '../../command-api/rl-environments/build.ts'
import { finishBuild } from '../../command-api/rl-environments/decide.ts'
import { saveEnvironment } from '../../command-api/rl-environments/rows.ts'
import { rlEnvironmentAt } from '../../events/rl-environments.ts'
import { packed } from '../platform/files/tar-of.ts'
import { eventStoreOn } from '../servers/event-store.ts'
import type { Sample, SampleServer } from './sample.ts'
import { asked, type Call, type Send } from './send.ts'
import { sendArchive } from './send-archive.ts'

/** A private environment with one version, which no executor builds. */
export const rlEnvironmentSample: Sample = {
  slice: 'rl-environments',
  things: {
    rl_environment: `select owner || '/' || name || '@' || version, owner || '/' || name || '@' || version, null, owner, null,
                            null, deleted_at is not null from write.rl_environment_version`,
  },
  uses: [
    `select 'upload', p.upload_id, 'rl_environment', v.owner || '/' || v.name || '@' || v.version, 'content'
       from write.rl_environment_version v
      cross join lateral (
        select e.data ->> 'upload_id' as upload_id from write.event e
         where e.stream = 'rl_environment-' || v.owner || '/' || v.name and e.type = 'environment.published'
           and e.data ->> 'version' = v.version
         order by e.stream_version desc limit 1) p
      where v.deleted_at is null`,
  ],
  async make({ ask, send, owner, pool }) {
    const name = `played-by-${owner.username}`
    const version = versionFor(owner.username)
    await publish({ ask, send, pool }, name, version)
    const environment = { owner: owner.username, name, version }
    return {
      nouns: { environments: environment },
      fields: { environment_ref: `${owner.username}/${name}@${version}` },
    }
  },
  missing: ({ nouns }, whose) => {
    const owner = String(nouns.environments?.owner)
    const name = `no-game-of-${whose}`
    return {
      nouns: { environments: { owner, name, version: versionFor(name) } },
      fields: { environment_ref: `${owner}/${name}@${versionFor(name)}` },
    }
  },
  hidden: ['environments'],
  lists: { '/api/environments': 'its people' },
  tables: {
    rl_environments: {
      seenBy: 'owner',
      isFilled: true,
      cells: ({ no }) => ({ name: `e-${no}`, visibility: 'private' }),
    },
    rl_environment_versions: {
      seenBy: 'owner',
      isFilled: true,
      cells: ({ no }) => ({ name: `e-${no}`, ref: `e-${no}@0.1.0` }),
    },
    rl_environment_uses: { seenBy: 'members', isOfRun: true },
  },
  publish: ({ username }) =>
    `update read.rl_environments set visibility = 'public' where owner = '${username}'`,
  pages: () => ['/environments/none/none'],
  changes: {
    'POST /api/environments': {
      body: async server => ({ upload_id: await uploaded(actingOf(server), freshName(), '1.0.0') }),
    },
    'PATCH /api/environments/{owner}/{name}': {
      async path(server) {
        const { owner, name } = await fresh(server)
        return `/api/environments/${owner}/${name}`
      },
      body: () => ({ visibility: 'public' }),
    },
    'POST /api/environments/{owner}/{name}/{version}/deprecate': {
      path: async server => `${pathOf(await fresh(server))}/deprecate`,
      body: () => ({ reason: 'of the sample' }),
    },
    'DELETE /api/environments/{owner}/{name}/{version}': {
      path: async server => pathOf(await fresh(server)),
    },
  },
}

/** The test of authorization looks for each person's names, so no two may have the same version. */
const versionFor = (name: string): string => {
  const number = [...name].reduce((sum, one) => (sum * 31 + one.charCodeAt(0)) % 900_000, 7)
  return `3.${100_000 + number}.1`
}

type Ask = <T>(call: Call) => Promise<T>
type Acting = { ask: Ask; send: Send; pool: Pool }
type Named = { owner: string; name: string; version: string }

const pathOf = ({ owner, name, version }: Named) => `/api/environments/${owner}/${name}/${version}`
const freshName = () => `of-a-test-${randomUUID()}`.slice(0, 40)

const actingOf = ({ send, people, pool }: SampleServer): Acting => ({
  ask: call => asked(send, people.operator, call),
  ...{ send, pool },
})

/** One of the operator's own that no other test names. */
const fresh = (server: SampleServer): Promise<Named> =>
  publish(actingOf(server), freshName(), '1.0.0')

/** The servers of samples have no executor, which alone builds environments. */
async function buildAsExecutor(pool: Pool, named: Named): Promise<void> {
  const cause = {
    actor: { type: 'system' as const, id: 'build-rl-environments', via: 'duty' },
    requestId: randomUUID(),
  }
  const built = { state: 'ready' as const, error: null, log: '', rollouts: [], revision_id: null }
  await commit(
    { store: eventStoreOn(pool), now: () => new Date() },
    cause,
    rlEnvironmentAt(named),
    {
      decide: environment =>
        finishBuild(environment, environment?.versions.at(-1)?.digest ?? '', {
          ...named,
          ...built,
        }),
      async alongside(tx, decided) {
        await saveEnvironment(tx, decided)
        await tx.query(
          `update write.duty set done_at = now()
          where reactor = $1 and payload ->> 'name' = $2 and done_at is null`,
          [environmentBuilder.name, named.name],
        )
      },
    },
  )
}

async function publish(acting: Acting, name: string, version: string): Promise<Named> {
  const upload_id = await uploaded(acting, name, version)
  const { owner } = await acting.ask<{ owner: string }>({
    method: 'POST',
    path: '/api/environments',
    body: { upload_id },
  })
  await buildAsExecutor(acting.pool, { owner, name, version })
  return { owner, name, version }
}

/** Content that no version has yet, not even one of samples that another process made. */
async function uploaded({ ask, send }: Acting, name: string, version: string): Promise<string> {
  const archive = packed(
    { path: 'environment.yaml', content: stringify({ name, version, entry: 'game:rollout' }) },
    { path: 'game.py', content: `def rollout(client, args): return 1 # ${randomUUID()}\n` },
  )
  // The address is signed, and takes no token.
  const withHeaders: Ask = call => (call.headers ? sent(send, call) : ask(call))
  return sendArchive(withHeaders, 'environment', archive)
}

async function sent<T>(send: Send, call: Call): Promise<T> {
  const { status, text } = await send(call)
  if (status !== 200) throw new Error(`${call.method} ${call.path} returned ${status} ${text}`)
  return JSON.parse(text)
}
