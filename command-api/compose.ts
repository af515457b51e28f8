import type { Person } from '../auth/caller.ts'
import type { Route } from '../auth/route.ts'
import { answeredRows } from './annotations/answered-rows.ts'
import type { DatasetMaker } from './annotations/export.ts'
import { approvalExpiry } from './approvals/perform.ts'
import type { ApprovalSubjects } from './approvals/ports.ts'
import { register } from './artifacts/routes.ts'
import type { Asked } from './commit/asked.ts'
import type { Transaction } from './commit/event-store.ts'
import { locksOfDataset, pushMadeVersion } from './datasets/push-made.ts'
import { headOf, openDataset, reviseDataset } from './datasets/revise.ts'
import { deploymentToActOn } from './deployments/act-on.ts'
import { deploymentToJudge } from './deployments/judge.ts'
import { deploymentsOfPlans } from './deployments/of-plans.ts'
import type { FindTemplate } from './deployments/ports.ts'
import { approvedPromotions } from './deployments/revisions/approval.ts'

import type { Deps } from './deps.ts'
import { dropEnder } from './duties/end-dropped.ts'
import type { Follower } from './effects/follower.ts'
import type { Reactor } from './effects/reactor.ts'
import { setHparams } from './hparams/decide.ts'
import type { HubPorts } from './hub-facade/ports.ts'
import { approvedJobs } from './jobs/approval.ts'
import { describeJob } from './jobs/change-route.ts'
import { jobsOfPlans } from './jobs/of-plans.ts'
import type { JobPorts } from './jobs/ports.ts'
import { beginJob, reportJob } from './jobs/report.ts'
import type { Kind } from './kind.ts'
import { appendMetrics } from './metrics/routes.ts'
import type { MlflowPorts } from './mlflow/target.ts'
import { approvedAliases } from './models/approval.ts'
import { modelsOfHub } from './models/of-hub.ts'
import { signInConfirmer } from './oidc/confirm.ts'
import { configuredProvider } from './oidc/routes.ts'
import { passkeyStep } from './passkeys/second-step.ts'
import { type AdvanceDeps, planAdvancer } from './plans/advance.ts'
import { approvedPlans } from './plans/approval.ts'
import type { PlanParts } from './plans/ports.ts'
import { sweepWatcher } from './plans/watch.ts'
import { approvedRaises, currentQuota } from './quotas/raise.ts'
import { reflowFiring } from './reflows/perform.ts'
import type { ReflowSources, VersionMaker } from './reflows/port.ts'
import { sampleJudge } from './rubrics/judging/perform.ts'
import { sampleDigest } from './rubrics/judging/question.ts'
import { newestScores } from './rubrics/scores.ts'
import type { Asking } from './rules/access.ts'
import { describeRun } from './runs/change-route.ts'
import { runPurger } from './runs/purge.ts'
import { reportRun } from './runs/report.ts'
import { createRun } from './runs/routes.ts'
import { checkSecondFactor, type GivenFactor } from './second-factors/check.ts'
import { confirmPassword } from './sessions/confirm-password.ts'
import { markConfirmed } from './sessions/confirm-session.ts'
import { openSession } from './sessions/open-session.ts'
import type { SignInPorts } from './sessions/password-guard.ts'
import type { PortsOf, Slice } from './slice.ts'
import * as listed from './slices.ts'
import { takeTeams } from './teams/groups.ts'
import { uploadsOfDatasets } from './uploads/of-datasets.ts'
import { uploadsOfRuns } from './uploads/of-runs.ts'
import { type SnapshotMaker, volumeSnapshots } from './volumes/snapshot.ts'

type Ports = PortsOf<(typeof listed)[keyof typeof listed]>

export const slices: readonly Slice<Ports>[] = Object.values(listed)

/** What slices need of the server. */
export type SlicePorts = Omit<Ports, keyof ReturnType<typeof portsBetween>>

/** Every mutating route. */
export const commandRoutes = (deps: Deps, ports: SlicePorts): Route[] => {
  const all: Ports = { ...ports, ...portsBetween(deps, ports) }
  return slices.flatMap(({ routes }) => routes?.(deps, all) ?? [])
}

/** Every kind of things. */
export const kinds: readonly Kind[] = slices.flatMap(({ kind }) => kind ?? [])

const reflowSources: ReflowSources = {
  async deploymentOf({ pool }, caller, asked) {
    const { deployment_id } = await deploymentToActOn(pool, { asked, caller, action: 'control' })
    return deployment_id
  },
  answersOf: answeredRows,
  scoresOf: ({ pool }, rubric, samples) => newestScores(pool, rubric, samples),
  sampleDigest,
}

type Storing = { caller: Pick<Person, 'username' | 'via'>; requestId: string }

/** The `Idempotency-Key` of the request is for the version. */
const storeRows = (
  deps: Deps,
  { caller: { username: owner, via }, requestId }: Storing,
  rows: readonly object[],
): Promise<string> =>
  uploadsOfDatasets(deps).storeFile({
    asked: { actor: { type: 'user', id: owner, via }, requestId },
    owner,
    content: Buffer.from(rows.map(row => `${JSON.stringify(row)}\n`).join('')),
  })

const trainFile = (upload_id: string) => ({ files: [{ upload_id, name: 'train.jsonl' }] })

const versionMaker: VersionMaker = {
  store: (deps, caller, { requestId, rows }) => storeRows(deps, { caller, requestId }, rows),
  locks: locksOfDataset,
  push: (work, { upload_id, ...made }) =>
    pushMadeVersion(work, { ...made, ...trainFile(upload_id), source: 'reflow' }),
}

const snapshotMaker: SnapshotMaker = {
  keepFile: (deps, cause, file, open) => uploadsOfDatasets(deps).keepFile(cause, file, open),
  locks: locksOfDataset,
  push: (work, made) =>
    pushMadeVersion(work, { ...made, kind: null, parents: [], source: 'volume' }),
}

/** What waits for approvals. */
const approvalSubjects = (deps: Deps): ApprovalSubjects => ({
  job: approvedJobs(deps),
  model_alias: approvedAliases(deps),
  plan: approvedPlans(deps),
  promotion: approvedPromotions(deps),
  quota: approvedRaises(deps),
})

const ofSlices: readonly Reactor<Deps>[] = [
  ...slices.flatMap(slice => slice.reactors ?? []),
  approvalExpiry(approvalSubjects),
  sampleJudge(deploymentToJudge),
  reflowFiring(reflowSources, versionMaker),
  volumeSnapshots(snapshotMaker),
  runPurger(slices.flatMap(({ deleteRowsOfRun }) => deleteRowsOfRun ?? [])),
]

/** The reactors of every process that serves commands. */
export const reactors: readonly Reactor<Deps>[] = [...ofSlices, dropEnder(ofSlices)]

/** What plans start: jobs and deployments. */
export const planParts = (
  deps: Deps,
  { catalogue, findTemplate }: JobPorts & { findTemplate: FindTemplate },
): PlanParts => ({
  ...jobsOfPlans(deps, { catalogue }),
  ...deploymentsOfPlans(deps, findTemplate),
})

/** Performed where `PlanParts` are at hand. */
export const planReactors: readonly Reactor<AdvanceDeps>[] = [planAdvancer, sweepWatcher]

/** All followers, for one server. */
export const newFollowers = (): readonly Follower<Deps>[] =>
  slices.flatMap(slice => slice.newFollowers?.() ?? [])

/** What slices need of each other, because none imports another. */
function portsBetween(deps: Deps, ports: SignInPorts & JobPorts & { findTemplate: FindTemplate }) {
  const provider = configuredProvider(deps)
  const stored = uploadsOfRuns(deps)
  const ofMlflow: MlflowPorts = {
    ...stored,
    appendMetrics: (asked, report) => appendMetrics(deps, asked, report),
    setHparams,
    createRun: request => createRun(deps, request),
    reportRun: reportRun(deps),
    beginJob: beginJob(deps),
    describeRun: describeRun(deps, describeJob(deps)),
    registerArtifact: (asked, artifact) => register(deps, asked, artifact),
  }
  const ofDatasets = uploadsOfDatasets(deps)
  const ofHub: HubPorts = {
    ...ofDatasets,
    models: modelsOfHub(deps),
    ofRuns: {
      ...stored,
      createRun: request => createRun(deps, request),
      reportRun: reportRun(deps),
      register: (asked, artifact) => register(deps, asked, artifact),
    },
    headOf,
    openDataset: (request, named, made) => openDataset(deps, request, named, made),
    reviseDataset: (request, named, revising) => reviseDataset(deps, request, named, revising),
  }
  const datasetMaker: DatasetMaker = {
    store: (request, rows) => storeRows(deps, request, rows),
    locks: locksOfDataset,
    push: (work, { upload_id, ...made }) =>
      pushMadeVersion(work, { ...made, ...trainFile(upload_id), source: 'annotation' }),
  }
  return {
    approvalSubjects: approvalSubjects(deps),
    currentQuota: (tx: Transaction, username: string) => currentQuota(deps, tx, username),
    datasetMaker,
    reflowSources,
    provider,
    confirm: signInConfirmer(deps, provider),
    checkSecondFactor: (asked: Asked, given: GivenFactor) =>
      checkSecondFactor(deps, passkeyStep(deps), asked, given),
    confirmPassword: (of: Parameters<typeof confirmPassword>[2]) =>
      confirmPassword(deps, ports, of),
    openDeviceSession: (signIn: Omit<SignIn, 'via'>) =>
      openSession(deps, { ...signIn, via: 'device' }),
    openPasskeySession: (signIn: Omit<SignIn, 'via'>) =>
      openSession(deps, { ...signIn, via: 'passkey' }),
    confirmOwnSession: (
      request: Parameters<typeof markConfirmed>[1],
      alongside: Parameters<typeof markConfirmed>[2],
    ) => markConfirmed(deps, request, alongside),
    openProviderSession: (signIn: Omit<SignIn, 'via'>) =>
      openSession(deps, { ...signIn, via: 'oidc' }),
    planParts: planParts(deps, ports),
    findJudge: (caller: Asking, asked: string) => deploymentToJudge(deps, caller, asked),
    takeTeams: takeTeams(deps),
    describeJob: describeJob(deps),
    reporters: { external: reportRun(deps), job: reportJob(deps) },
    uploadsOfRuns: stored,
    ofMlflow,
    ofHub,
  }
}

type SignIn = Parameters<typeof openSession>[1]
