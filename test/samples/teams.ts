import { randomUUID } from 'node:crypto'
import type { Sample, SampleServer } from './sample.ts'
import { asked } from './send.ts'

const named = () => ({ name: `team-${randomUUID()}` })

/** Makes a team of the operator, for a request that ends it. */
const another = ({ send, people }: SampleServer) =>
  asked<{ name: string }>(send, people.operator, {
    method: 'POST',
    path: '/api/teams',
    body: named(),
  })

/** A team of the owner, with a friend as a member, a group and a project. */
export const teamSample: Sample = {
  slice: 'teams',
  things: {
    team: `select name, name, null, null, null, null, deleted_at is not null from write.team`,
  },
  async make({ owner, ask, friend, made }) {
    const body = { ...named(), description: `of ${owner.username}` }
    const { name } = await ask<{ name: string }>({ method: 'POST', path: '/api/teams', body })
    await ask({
      method: 'PUT',
      path: `/api/teams/${name}/members/${friend}`,
      body: { role: 'viewer' },
    })
    return {
      fields: { team: name },
      nouns: { teams: { name }, groups: { group: `group-${made.fields.project}` } },
    }
  },
  missing: (_, whose) => ({
    fields: { team: `team-of-${whose}` },
    nouns: { teams: { name: `team-of-${whose}` }, groups: { group: `group-of-${whose}` } },
  }),
  hidden: ['teams'],
  lists: { '/api/teams': 'its people' },
  tables: {
    teams: {
      seenBy: 'owner alone',
      isFilled: true,
      cells: ({ no }) => ({ name: `team-${no}` }),
    },
    team_members: {
      seenBy: 'owner alone',
      isFilled: true,
      cells: ({ no }) => ({ team: `team-${no}`, role: 'viewer' }),
    },
  },
  pages: () => ['/teams/none'],
  changes: {
    'POST /api/teams': { body: named },
    'POST /api/teams/{name}/leave': {
      body: () => ({}),
      async path(server) {
        const { name } = await another(server)
        const { operator, another: heir } = server.people
        await asked(server.send, operator, {
          method: 'PUT',
          path: `/api/teams/${name}/members/${heir.username}`,
          body: { role: 'owner' },
        })
        return `/api/teams/${name}/leave`
      },
    },
    'PATCH /api/teams/{name}': { body: () => ({ description: 'noted' }) },
    'PUT /api/teams/{name}/members/{username}': { body: () => ({ role: 'maintainer' }) },
    'DELETE /api/teams/{name}': {
      path: async server => `/api/teams/${(await another(server)).name}`,
    },
  },
}
