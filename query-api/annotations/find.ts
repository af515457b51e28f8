import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { AnnotationTables } from '../../projector/annotations/table.ts'
import { annotationPath } from '../../schemas/annotations.ts'
import type { Reads } from '../reading/reads.ts'
import type { AccessTables } from '../rules/access.ts'

export type Tables = AnnotationTables & AccessTables
export type Db = Kysely<Tables>

/** SQL condition: may this person read the project of queue `q`? */
export const mayReadQueue = ({ username, role }: Person): RawBuilder<SqlBool> => sql<SqlBool>`
  (${role === 'admin'}
    or exists (select from projects p where p.name = q.project
                  and (p.visibility = 'internal' or p.owner = ${username}))
    or exists (select from project_people m where m.project = q.project and m.username = ${username}))`

/**
 * SQL condition: may this person read row `a` of `annotation_answers`? Rows of other people are hidden before the reader's own answer
 * to the item, so that they do not influence it; people who manage the queue see all.
 */
export const mayReadAnswer = (
  { username, role }: Person,
  { project, owner }: { project: string; owner: string },
): RawBuilder<SqlBool> => sql<SqlBool>`
  (a.username = ${username} or ${role === 'admin'}
    or exists (select from annotation_answers o
                where o.queue_id = a.queue_id and o.item = a.item and o.username = ${username}
                  and o.is_current and o.what = 'answered')
    or exists (select from projects p where p.name = ${project} and p.owner = ${username})
    or exists (select from project_people m where m.project = ${project} and m.username = ${username}
                  and (m.role = 'maintainer' or (m.role = 'member' and ${owner === username}))))`

/** For routes about a queue; to people who may not read its project it looks missing. */
export const ofQueue = (reads: Reads<Tables>) =>
  ({
    credential: 'person',
    reach: 'its_people',
    params: annotationPath,
    refusals: ['not_found'],
    async of({ caller, params: { queue_id } }: { caller: Person; params: { queue_id: string } }) {
      const db = reads.as(caller)
      const queue = await db
        .selectFrom('annotation_queues as q')
        .selectAll()
        .where('queue_id', '=', queue_id)
        .where(mayReadQueue(caller))
        .executeTakeFirst()
      if (!queue) throw new Refusal('not_found', `No such annotation queue: ${queue_id}`)
      return { db, queue }
    },
  }) as const
