import { useQuery } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { importance } from '../../../../schemas/importance.ts'
import { Shown } from '../design/notice.tsx'
import { Num } from '../design/number.tsx'
import { reading } from '../session/api.ts'
import { visible } from '../words/visible.ts'
import { useWords } from '../words/words.ts'
import { axisFrom, nameOfAxis } from './axis.ts'
import type { PanelOf } from './panel.ts'
import styles from './panels.module.css'
import { words } from './words.ts'

type Found = Static<typeof importance>

type Props = {
  panel: PanelOf<'importance'>
  title: string
  /** Null for runs of several projects. */
  project: string | null
  q: string
}

/** Which hyperparameters explain a metric, over all runs of the project that match. */
export function Importance({ panel, title, project, q }: Props) {
  const say = useWords(words)
  const axis = axisFrom(panel.metric)
  const metric = 'metric' in axis ? `${axis.metric}:${axis.of}` : panel.metric
  const path = `/api/projects/${encodeURIComponent(project ?? '')}/importance`
  const found = useQuery({
    ...reading<Found>(path, { metric, q }),
    enabled: project !== null,
    staleTime: 30_000,
  })
  if (project === null) return <p className={styles.empty}>{say.oneProject}</p>
  return (
    <Shown of={found}>
      {({ hparams, runs }) =>
        hparams.length === 0 ? (
          <p className={styles.empty}>{say.noImportance}</p>
        ) : (
          <>
            <p className={styles.legend}>{say.ofRuns(visible(nameOfAxis(panel.metric)), runs)}</p>
            <ol className={styles.bars} aria-label={title}>
              {hparams.map(({ key, importance: share, correlation }) => (
                <li key={key}>
                  <span className={styles.name} title={visible(key)}>
                    {visible(key)}
                  </span>
                  <span className={styles.track}>
                    <span
                      style={{
                        left: 0,
                        width: `${Math.max(0.3, share * 100)}%`,
                        background: 'var(--accent)',
                      }}
                    />
                  </span>
                  <span className={styles.number}>
                    {Math.round(share * 100)} %
                    {correlation && (
                      <span title={say.correlation}>
                        {' '}
                        (<Num value={correlation.spearman} />)
                      </span>
                    )}
                  </span>
                </li>
              ))}
            </ol>
          </>
        )
      }
    </Shown>
  )
}
