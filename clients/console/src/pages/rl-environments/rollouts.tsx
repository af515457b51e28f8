import layout from '../../design/layout.module.css'
import { Panel } from '../../design/panel.tsx'
import { Table } from '../../design/table.tsx'
import { shortNumber } from '../../words/amounts.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import type { VersionDetail } from './paths.ts'
import { words } from './words.ts'

/** The smoke rollouts of a version, with their rewards as bars. */
export function Rollouts({ of }: { of: VersionDetail }) {
  const say = useWords(words)
  const { rollouts, baseline } = of
  const shown = (reward: number) => shortNumber(reward, 3)
  const rows = rollouts.map((one, index) => ({ ...one, nth: index + 1 }))
  return (
    <Panel title={say.rollouts}>
      {rollouts.length === 0 && <p className={layout.soft}>{say.noBaseline}</p>}
      {baseline && (
        <>
          <Rewards of={of} />
          <p className={layout.soft}>
            {say.rewards(shown(baseline.mean), shown(baseline.min), shown(baseline.max))}
          </p>
        </>
      )}
      {rollouts.length > 0 && (
        <Table
          caption={say.rollouts}
          rows={rows}
          keyOf={one => String(one.nth)}
          columns={[
            { key: 'nth', title: say.rollout, cell: one => one.nth },
            {
              key: 'reward',
              title: say.reward,
              isNumber: true,
              cell: one => one.reward !== null && shown(one.reward),
            },
            {
              key: 'seconds',
              title: say.seconds,
              isNumber: true,
              cell: one => one.duration_s.toFixed(1),
            },
            { key: 'error', title: say.error, cell: one => one.error && visible(one.error) },
          ]}
        />
      )}
    </Panel>
  )
}

const bar = { width: 20, gap: 4 }
const height = 60
/** The least height of a bar, so that a reward of nothing shows. */
const least = 2

/** Bars from the least possible reward, or the least seen, upwards; the dashed line is the mean. */
function Rewards({ of: { baseline, reward, rollouts } }: { of: VersionDetail }) {
  const say = useWords(words)
  if (!baseline) return null
  const low = Math.min(0, reward.min ?? 0, baseline.min)
  const span = Math.max(reward.max ?? baseline.max, baseline.max) - low || 1
  const tall = (value: number) => least + ((height - 2 * least) * (value - low)) / span
  const width = rollouts.length * (bar.width + bar.gap) - bar.gap
  const mean = height - tall(baseline.mean)
  const bars = baseline.rewards.map((one, nth) => ({ one, nth }))
  const words3 = [baseline.mean, baseline.min, baseline.max].map(one => shortNumber(one, 3))
  const [a = '', b = '', c = ''] = words3
  return (
    <svg
      className={styles.rewards}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${say.rollouts}: ${say.rewards(a, b, c)}`}
    >
      <line className={styles.base} x1={0} x2={width} y1={height} y2={height} />
      {bars.map(({ one, nth }) => (
        <rect
          key={nth}
          className={styles.bar}
          x={nth * (bar.width + bar.gap)}
          y={height - tall(one)}
          width={bar.width}
          height={tall(one)}
        >
          <title>{shortNumber(one, 3)}</title>
        </rect>
      ))}
      <line className={styles.mean} x1={0} x2={width} y1={mean} y2={mean} />
    </svg>
  )
}
