import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { ProjectSeries } from '../../../../../schemas/series.ts'
import { pathOfSeries } from '../../charts/project-series.ts'
import { keysParameter } from '../../charts/series.ts'
import { idOfGroup } from '../../charts/use-group-lines.ts'
import { Num } from '../../design/number.tsx'
import { State } from '../../design/state.tsx'
import { reading } from '../../session/api.ts'
import { visible } from '../../words/visible.ts'
import { useWords, wordsOf } from '../../words/words.ts'
import { byValue, type GroupValue, strokeOfGroup } from './groups.ts'
import styles from './page.module.css'
import { Swatch } from './swatch.tsx'
import { words as ofProjects } from './words.ts'

const words = wordsOf({
  groupList: ['Groups of runs', '运行分组'],
  groupsOf: [
    (groups: number, runs: number) => `${groups} groups of ${runs} runs`,
    (groups: number, runs: number) => `${runs} 个运行，${groups} 组`,
  ],
  meanOf: [(key: string) => `mean of ${key}`, (key: string) => `${key} 的均值`],
  runsIn: [(n: number) => (n === 1 ? '1 run' : `${n} runs`), (n: number) => `${n} 个运行`],
  groupsLeft: [
    (n: number) => `${n} smaller groups are not shown.`,
    (n: number) => `未显示其余 ${n} 个较小的组。`,
  ],
})

type Props = {
  project: string
  group: string
  /** Which runs, as for charts. */
  asked: { q?: string | undefined; runs?: string | undefined }
  /** The metric whose mean each row shows; undefined while there is none. */
  metric: string | undefined
  hidden: readonly GroupValue[]
  onHide: (hidden: GroupValue[]) => void
  lifted: string | null
  onLift: (id: string | null) => void
}

/** The groups of the runs: how many runs each has, and the mean of their last values. */
export function GroupList(props: Props) {
  const { project, group, asked, metric, hidden, onHide } = props
  const say = { ...useWords(ofProjects), ...useWords(words) }
  const keys = keysParameter([metric ?? 'loss'])
  const read = useQuery({
    ...reading<ProjectSeries>(pathOfSeries(project), { keys, group, buckets: 2, ...asked }),
    placeholderData: before => before,
  })
  const groups = read.data?.groups ?? []
  const all = groups.map(({ value }) => value)
  const curves = new Map(read.data?.keys[0]?.curves.map(curve => [curve.of, curve.last]))
  const rows = groups
    .map((one, of) => ({ ...one, last: curves.get(of) }))
    .sort((a, b) => byValue(a.value, b.value))
  const left = read.data?.left_out.groups ?? 0
  return (
    <>
      <p className={styles.groupHead}>
        <span role="status">{say.groupsOf(groups.length, read.data?.runs.length ?? 0)}</span>
        {metric !== undefined && <span title={metric}>{say.meanOf(visible(metric))}</span>}
      </p>
      <ul className={styles.runs} aria-label={say.groupList} tabIndex={0}>
        {rows.map(row => (
          <Group
            key={String(JSON.stringify(row.value))}
            {...props}
            row={row}
            all={all}
            runs={row.runs.flatMap(nth => read.data?.runs[nth] ?? [])}
            isShown={!hidden.includes(row.value)}
            onToggle={() =>
              onHide(
                hidden.includes(row.value)
                  ? hidden.filter(value => value !== row.value)
                  : [...hidden, row.value],
              )
            }
          />
        ))}
      </ul>
      {left > 0 && <p className={styles.soft}>{say.groupsLeft(left)}</p>}
    </>
  )
}

type Last = ProjectSeries['keys'][number]['curves'][number]['last']

type GroupProps = Pick<Props, 'lifted' | 'onLift'> & {
  row: { value: GroupValue; runs: readonly number[]; last: Last }
  all: readonly GroupValue[]
  runs: ProjectSeries['runs']
  isShown: boolean
  onToggle: () => void
}

function Group({ row, all, runs, isShown, onToggle, lifted, onLift }: GroupProps) {
  const say = { ...useWords(ofProjects), ...useWords(words) }
  const [isOpen, setOpen] = useState(false)
  const { value, last } = row
  const name = value === null ? say.noValue : visible(value)
  const id = idOfGroup(value)
  const lift = () => onLift(isShown ? id : null)
  return (
    <li
      onMouseEnter={lift}
      onMouseLeave={() => onLift(null)}
      onFocus={lift}
      onBlur={() => onLift(null)}
    >
      <div
        className={`${styles.group} ${isShown ? '' : styles.aside} ${lifted === id ? styles.lifted : ''}`}
      >
        <input type="checkbox" aria-label={say.show(name)} checked={isShown} onChange={onToggle} />
        <Swatch stroke={strokeOfGroup(value, all)} isShown={isShown} />
        <button
          type="button"
          className={styles.fold}
          aria-expanded={isOpen}
          title={name}
          onClick={() => setOpen(!isOpen)}
        >
          <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> {name}
        </button>
        <span className={styles.soft}>{say.runsIn(row.runs.length)}</span>
        <span className={styles.value}>
          {last?.mean != null && (
            <>
              <Num value={last.mean} /> ± <Num value={last.std ?? 0} />
            </>
          )}
        </span>
      </div>
      {isOpen && (
        <ul className={styles.members} aria-label={name}>
          {runs.map(run => (
            <li key={run.run_id}>
              <Link to="/runs/$run_id" params={{ run_id: run.short_id }}>
                {visible(run.name ?? run.short_id)}
              </Link>
              <State state={run.state} />
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}
