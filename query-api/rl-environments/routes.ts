import { type SqlBool, sql } from 'kysely'
import type { Route } from '../../auth/route.ts'
import {
  pageOfRlEnvironment,
  rlEnvironment,
  rlEnvironmentListQuery,
  rlEnvironmentUse,
  rlEnvironmentVersion,
  rlEnvironmentVersionDetail,
  rlEnvironmentVersionPath,
} from '../../schemas/rl-environments/rl-environments.ts'
import { list, one, pagedList } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'
import { findVersion, maySee, ofEnvironment, type Tables } from './find.ts'
import { readUses, toEnvironment, toEnvironments, toVersions, versionsOf } from './record.ts'

export const rlEnvironmentRoutes = (reads: Reads<Tables>): Route[] => [
  list({
    ...asCaller(reads),
    path: '/api/environments',
    tag: 'environments',
    summary: 'List the RL environments one may see, by owner and name',
    query: rlEnvironmentListQuery,
    row: rlEnvironment,
    matching: ({ db }, { caller, query: { owner, q } }) =>
      db
        .selectFrom('rl_environments as e')
        .where(maySee(caller))
        .$if(owner !== undefined, found => found.where('e.owner', '=', owner ?? ''))
        .$if(q !== undefined, found =>
          found.where(
            sql<SqlBool>`strpos(lower(e.owner || '/' || e.name), ${(q ?? '').toLowerCase()}) > 0`,
          ),
        ),
    select: found => found.selectAll('e').orderBy('e.owner').orderBy('e.name'),
    shape: (rows, { db }, { caller }) => toEnvironments({ db, caller }, rows),
  }),
  one({
    ...ofEnvironment(reads),
    path: '/api/environments/{owner}/{name}',
    tag: 'environments',
    summary: 'Read an RL environment, with its newest version',
    response: rlEnvironment,
    read: found => toEnvironment(found, found.row),
  }),
  pagedList({
    ...ofEnvironment(reads),
    path: '/api/environments/{owner}/{name}/versions',
    tag: 'environments',
    summary: 'The versions of an RL environment, newest first',
    query: pageOfRlEnvironment,
    row: rlEnvironmentVersion,
    async read(found, _, { limit, offset }) {
      const all = await versionsOf(found, found.row)
      const page = all.slice(offset, offset + limit)
      return { rows: await toVersions(found, page, found.row), counted: all.length }
    },
  }),
  one({
    ...ofEnvironment(reads),
    path: '/api/environments/{owner}/{name}/{version}',
    tag: 'environments',
    summary: 'Read a version of an RL environment: its smoke rollouts, and the log of its build',
    params: rlEnvironmentVersionPath,
    response: rlEnvironmentVersionDetail,
    async read(found, { params }) {
      const { log, ...row } = await findVersion(found, params)
      const [shown] = await toVersions(found, [row], found.row)
      return shown && { ...shown, rollouts: row.rollouts, log }
    },
  }),
  pagedList({
    ...ofEnvironment(reads),
    path: '/api/environments/{owner}/{name}/{version}/used-by',
    tag: 'environments',
    summary: 'Runs that used a version of an RL environment',
    params: rlEnvironmentVersionPath,
    query: pageOfRlEnvironment,
    row: rlEnvironmentUse,
    async read(found, { params }, page) {
      const { ref } = await findVersion(found, params)
      return readUses(found, { ref, ...page })
    },
  }),
]
