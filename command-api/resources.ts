import type { DecisionEvent } from '../events/all.ts'
import type { Event } from '../events/event.ts'
import type { Kind, ResourceChange, UseChange } from './kind.ts'

/** Rows of `write.resource` and `write.use` as events change them, in the order of the events. */
export type ResourceChanges = { resources: object[]; uses: object[]; purged: object[] }

/** The changes of these events; null if there are none, which costs no statement. */
export function changesOf(
  kinds: readonly Kind[],
  events: readonly (Event & { at: Date })[],
): ResourceChanges | null {
  const resources: ResourceRow[] = []
  const uses: object[] = []
  for (const { at, ...event } of events)
    for (const { name, resourceOf, usesOf } of kinds) {
      const change = resourceOf(event as DecisionEvent)
      if (change) resources.push(resourceRow(name, change, at))
      uses.push(...usesOf(event as DecisionEvent).map(use => useRow(use, at)))
    }
  if (resources.length + uses.length === 0) return null
  const numbered = (rows: object[]) => rows.map((row, nth) => ({ ...row, nth }))
  return {
    resources: numbered(resources.filter(({ is }) => is !== 'purged')),
    uses: numbered(uses),
    purged: resources.filter(({ is }) => is === 'purged'),
  }
}

type ResourceRow = ReturnType<typeof resourceRow>
const resourceRow = (kind: string, change: ResourceChange, at: Date) => ({
  ...change,
  within: change.is === 'there' ? change.within : null,
  ...{ kind, at },
})

const useRow = ({ begins, user, used, as }: UseChange, at: Date) => ({
  ...{ begins, as, at, user_kind: user.kind, user_id: user.id },
  ...{ used_kind: used?.kind ?? null, used_id: used?.id ?? null },
})

/**
 * One statement for all changes of a transaction's append. If a resource changes several times, the last change counts. So the
 * changes do not depend on the statement's snapshot, except for the owner of an enclosing resource, which is always older.
 */
const saveChanges = {
  name: 'save_resources',
  text: `with given as (
           select distinct on (kind, id) * from jsonb_to_recordset($1)
             as row (nth int, kind text, id text, "is" text, name text, owner text, project text, visibility text,
                     within jsonb, at timestamptz)
            order by kind, id, nth desc),
         marked as (
           update write.resource r set deleted_at = case given."is" when 'deleted' then given.at end
             from given where r.kind = given.kind and r.id = given.id and given."is" <> 'there'),
         kept as (
           insert into write.resource as r (kind, id, name, owner, project, visibility, within_kind, within_id)
           select given.kind, given.id, given.name, coalesce(given.owner, w.owner), coalesce(given.project, w.project),
                  given.visibility, given.within ->> 'kind', given.within ->> 'id'
             from given left join write.resource w on w.kind = given.within ->> 'kind' and w.id = given.within ->> 'id'
            where given."is" = 'there' order by given.kind, given.id
           on conflict (kind, id) do update
             set name = coalesce(excluded.name, r.name), owner = coalesce(excluded.owner, r.owner),
                 project = coalesce(excluded.project, r.project),
                 visibility = coalesce(excluded.visibility, r.visibility), deleted_at = null),
         changed as (
           select * from jsonb_to_recordset($2)
             as row (nth int, begins boolean, "as" text, at timestamptz, user_kind text, user_id text, used_kind text,
                     used_id text)),
         ended as (
           update write.use u set until = c.at from changed c
            where not c.begins and u.user_kind = c.user_kind and u.user_id = c.user_id and u.used_as = c."as"
              and (c.used_id is null or (u.used_kind = c.used_kind and u.used_id = c.used_id)) and u.until is null
              and not exists (select from changed b where b.begins and b.nth > c.nth and b.user_kind = u.user_kind
                                 and b.user_id = u.user_id and b.used_kind = u.used_kind and b.used_id = u.used_id
                                 and b."as" = u.used_as))
         insert into write.use as u (user_kind, user_id, used_kind, used_id, used_as, since, until)
         select user_kind, user_id, used_kind, used_id, "as", min(at),
                (select max(e.at) from changed e
                  where not e.begins and e.nth > max(b.nth) and e.user_kind = b.user_kind and e.user_id = b.user_id
                    and e."as" = b."as" and (e.used_id is null or (e.used_kind = b.used_kind and e.used_id = b.used_id)))
           from changed b where begins
          group by user_kind, user_id, used_kind, used_id, "as"
             on conflict (used_kind, used_id, user_kind, user_id, used_as) do update set until = excluded.until`,
}

/** A purged thing keeps its row, because its id is never reused; the things within it lose theirs. */
const forgetPurged = {
  name: 'forget_purged',
  text: `with purged as (select * from jsonb_to_recordset($1) as row (kind text, id text, at timestamptz)),
         marked as (
           update write.resource r set deleted_at = coalesce(r.deleted_at, purged.at)
             from purged where r.kind = purged.kind and r.id = purged.id),
         gone as (
           delete from write.resource r using purged
            where r.within_kind = purged.kind and r.within_id = purged.id returning r.kind, r.id)
         delete from write.use u
          using (select kind, id from purged union all select kind, id from gone) as by
          where u.user_kind = by.kind and u.user_id = by.id`,
}

/** The queries that make these changes, in their order. */
export const savingsOf = ({ resources, uses, purged }: ResourceChanges) => [
  ...(resources.length + uses.length === 0
    ? []
    : [{ ...saveChanges, values: [JSON.stringify(resources), JSON.stringify(uses)] }]),
  ...(purged.length === 0 ? [] : [{ ...forgetPurged, values: [JSON.stringify(purged)] }]),
]
