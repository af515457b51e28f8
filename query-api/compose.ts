import type { Route } from '../auth/route.ts'
import { sendContent } from './artifacts/content.ts'
import { findDataset, refuseUnlessUser } from './datasets/find.ts'
import { countReports, readCurves } from './metrics/curves.ts'
import { readHistory } from './metrics/export.ts'
import { findModel } from './models/find.ts'
import { countUnread } from './notifications/unread.ts'
import { readJudgeScores } from './rubrics/judge-scores.ts'
import { runsOfProject } from './runs/of-project.ts'
import type { QueryDeps, Slice, SliceDeps, TablesOf } from './slice.ts'
import * as listed from './slices.ts'
import { ownTeams } from './teams/own.ts'

/** The tables a query may see. */
export type ReadTables = TablesOf<(typeof listed)[keyof typeof listed]>

/** Safe: the type parameter only narrows which tables may be selected from. */
export const slices: readonly Slice<ReadTables>[] = Object.values<unknown>(
  listed,
) as Slice<ReadTables>[]

/** Every read-only route. */
export const queryRoutes = (deps: QueryDeps<ReadTables>): Route[] => {
  const all: SliceDeps<ReadTables> = {
    ...deps,
    topics: slices
      .flatMap(({ topic }) => topic ?? [])
      .sort((a, b) => a.place - b.place)
      .map(({ of }) => of(deps.reads)),
    pages: slices.flatMap(({ pages }) => pages ?? []),
    figures: { unread_notifications: countUnread(deps.reads), teams: ownTeams(deps.reads) },
    readHistory,
    readCurves,
    countReports,
    runsOfProject,
    readJudgeScores: (reader, of) => readJudgeScores(deps.pool, reader, of),
    sendContent: (ctx, file) => sendContent(deps.contents, ctx, file),
    findDataset: (reader, named) => findDataset(deps.reads, reader, named),
    refuseUnlessUser,
    findModel: (reader, model) => findModel(deps.reads, reader, model),
  }
  return slices.flatMap(({ routes }) => routes?.(all) ?? [])
}
