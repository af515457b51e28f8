import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { startTransition, useCallback, useMemo, useState } from 'react'
import type { Static } from 'typebox'
import type { project } from '../../../../../schemas/projects.ts'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { useLiveCurves } from '../../charts/use-live-curves.ts'
import { linkButton } from '../../design/button.tsx'
import { Empty, Failure, Shown } from '../../design/notice.tsx'
import { axesOfPanels } from '../../panels/axes-of.ts'
import { neededBy } from '../../panels/axis.ts'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import type { Ahead } from '../slice.ts'
import { CopyLink } from './copy-link.tsx'
import { Curves } from './curves.tsx'
import styles from './page.module.css'
import { shownOf, shownText } from './shown.ts'
import { faultOf, Side } from './side.tsx'
import { groupsOf, useChoice } from './use-choice.ts'
import { readingRunsOf, rereadMs, useKeys, useRunsOf } from './use-runs.ts'
import { readingViews, useDefaultView } from './use-views.ts'
import { isBare } from './view-state.ts'
import { Views } from './views.tsx'
import { words } from './words.ts'

type Project = Static<typeof project>

/** The last values in the list of runs are refreshed with the curves. */
const alsoLive = ['/api/runs']

const readingProject = (name: string) =>
  reading<Project>(`/api/projects/${encodeURIComponent(name)}`)

/** An address with a search, columns and the like may list other runs. */
export const ahead: Ahead = ({ params: { name = '' }, search }) => [
  readingProject(name),
  ...(isBare(search) ? [readingViews(name), readingRunsOf(name)] : []),
]

/** A project as a workspace: its runs, and their curves, both live. Everything that was chosen is in the address. */
export function Page() {
  const { name = '' } = useParams({ strict: false })
  const known = useQuery(readingProject(name))
  return <Shown of={known}>{data => <Opened key={name} project={data} />}</Shown>
}

const Opened = ({ project }: { project: Project }) =>
  useDefaultView(project.name) && <Workspace project={project} />

const noRuns: RunRow[] = []

function Workspace({ project }: { project: Project }) {
  const say = useWords(words)
  const choice = useChoice()
  const { name } = project
  const [lifted, setLifted] = useState<string | null>(null)
  // Many charts follow the mouse, which must not wait for them.
  const lift = useCallback((runId: string | null) => startTransition(() => setLifted(runId)), [])
  const needed = useMemo(() => neededBy(axesOfPanels(choice.panels)), [choice.panels])
  const found = useRunsOf(name, choice, needed)
  const runs = found.data?.rows ?? noRuns
  const shown = useMemo(() => shownOf(runs, choice.runs), [runs, choice.runs])
  const keys = useKeys(name, choice.q, shown)
  const groups = groupsOf(name, choice, shown)
  useLiveCurves(groups === null ? shown : runs, { leastMs: rereadMs, also: alsoLive })
  return (
    <div className={styles.page}>
      <Head project={project} shown={shown} />
      {faultOf(found.error) === null && <Failure error={found.error} />}
      {found.data && runs.length === 0 && choice.q === '' ? (
        <Empty text={say.noRuns} command={`forge run --project ${name} -- python3 train.py`} />
      ) : (
        <div className={styles.parts}>
          <Side
            {...{ project: name, choice, groups, found, shown, lifted }}
            keys={keys}
            onLift={lift}
          />
          {shown.length === 0 || keys.length === 0 ? (
            found.data && <Empty text={emptyText(say, runs, shown)} />
          ) : (
            <Curves
              {...{ project: name, choice, keys, groups, shown }}
              lift={{ runId: lifted, onHover: lift }}
              onShow={ids =>
                choice.go({
                  runs: shownText(
                    runs,
                    runs.filter(run => ids.includes(run.run_id)),
                  ),
                })
              }
            />
          )}
        </div>
      )}
    </div>
  )
}

/** Null is an admin, who may, or a reader of an internal project, whom the server refuses. */
const mayConfigure = ({ my_role }: Project): boolean =>
  my_role === null || my_role === 'owner' || my_role === 'maintainer'

function emptyText(
  say: { noneFound: string; noneShown: string; noMetrics: string },
  runs: readonly RunRow[],
  shown: readonly RunRow[],
): string {
  if (shown.length > 0) return say.noMetrics
  return runs.length === 0 ? say.noneFound : say.noneShown
}

function Head({ project, shown }: { project: Project; shown: readonly RunRow[] }) {
  const say = useWords(words)
  return (
    <header className={styles.head}>
      <h1>{project.name}</h1>
      <span className={styles.soft}>
        {project.owner} · {say[project.visibility]}
      </span>
      <span className={styles.space} />
      <Views project={project.name} mayConfigure={mayConfigure(project)} />
      <CopyLink shown={shown} />
      {shown.length >= 2 && shown.length <= 200 && (
        <Link
          to="/compare"
          search={{ runs: shown.map(run => run.short_id).join(',') }}
          className={linkButton}
        >
          {say.compare}
        </Link>
      )}
      <Link to="/runs" search={{ q: `project:${project.name}` }} className={linkButton}>
        {say.table}
      </Link>
    </header>
  )
}
