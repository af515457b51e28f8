import type { Pool } from 'pg'
import type { TObject } from 'typebox'
import type { Examples } from '../auth/examples.ts'
import type { Route } from '../auth/route.ts'
import type { QueueBook } from '../events/calculations/queue-picture.ts'
import type { Clock } from '../platform/time.ts'
import type { ReadJudgeScores } from './annotations/routes.ts'
import type { Contents } from './artifacts/content.ts'
import type { AuditReader } from './audit/routes.ts'
import type { HubReads } from './hub-facade/reader.ts'
import type { countReports, readCurves } from './metrics/curves.ts'
import type { MlflowReads } from './mlflow/scope.ts'
import type { Assets } from './pages/assets.ts'
import type { Reads } from './reading/reads.ts'
import type { Recipes } from './recipes/routes.ts'
import type { runsOfProject, runsOfSearch } from './runs/of-project.ts'
import type { OwnFigures, SignInSettings } from './sessions/routes.ts'
import type { OpenStream } from './sse/sse.ts'
import type { Topic } from './sse/topic.ts'

/**
 * A slice of the read side, as `<slice>/slice.ts` declares it and `slices.ts` lists it (docs/contribute/slices.md). `T`: the tables
 * that it reads.
 */
export type Slice<T = unknown> = {
  /** Its folder. */
  name: string
  /** Its routes, which only read. */
  routes?: (deps: SliceDeps<T>) => Route[]
  /** Its topic of `/api/stream`. `place` counts from 0 and never changes: clients hold cursors in this order. */
  topic?: { place: number; of: (reads: Reads<T>) => Topic }
  /** The addresses of its pages in the console. */
  pages?: readonly Page[]
  examples?: Examples
}

/** A path of the console; its content is decided in the browser. */
export type Page = { path: string; summary: string; params?: TObject }

/** What the server gives the read side. */
export type QueryDeps<T> = {
  reads: Reads<T>
  /**
   * Connections to the schemas `auth`, for data about the caller, and `write`, for wait reasons and data without a
   * read model.
   */
  pool: Pool
  queue: QueueBook
  openStream: OpenStream
  now: Clock
  /** Days that captured requests are kept. */
  captureDays: number
  catalogue: Recipes
  audit: AuditReader
  signIn: SignInSettings
  /** The contents of artifacts. */
  contents: Pick<Contents, 'store' | 'key' | 'baseUrl'>
  /** The address of the hub that models come from; null: none is configured. */
  hubEndpoint: string | null
  /** Where volumes are, by backend; null: this installation does not have it. */
  volumes: { local: string; slurm: string | null }
  /** The console; null if it is not built here. */
  assets: Assets | null
}

/** The same, and what slices provide to each other, because none imports another. */
export type SliceDeps<T> = QueryDeps<T> & {
  topics: readonly Topic[]
  pages: readonly Page[]
  figures: OwnFigures
  readCurves: typeof readCurves
  countReports: typeof countReports
  runsOfProject: typeof runsOfProject
  runsOfSearch: typeof runsOfSearch
  readJudgeScores: ReadJudgeScores
} & Pick<MlflowReads, 'readHistory' | 'sendContent'> &
  Pick<HubReads, 'findDataset' | 'refuseUnlessUser' | 'findModel'>

/** The tables that all of these slices read. */
export type TablesOf<S> = (S extends Slice<infer T> ? (tables: T) => void : never) extends (
  tables: infer All,
) => void
  ? All
  : never
