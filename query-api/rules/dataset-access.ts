import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'

/** SQL condition: may this person see dataset `d`? As `datasetStanding` decides (schemas/datasets/access.ts). */
export const maySee = ({
  username,
  role,
}: Pick<Person, 'username' | 'role'>): RawBuilder<SqlBool> => sql<SqlBool>`
  (${role === 'admin'} or d.owner = ${username} or d.visibility = 'public'
    or exists (select from dataset_grants s
                where s.owner = d.owner and s.name = d.name and s.username = ${username} and s.may_see))`
