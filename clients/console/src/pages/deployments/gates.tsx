import { Link } from '@tanstack/react-router'
import { useWords } from '../../words/words.ts'
import { LineSetting } from './line-setting.tsx'
import type { Deployment } from './paths.ts'
import { words } from './words.ts'

/** The benchmarks whose scores a promotion must not lower. */
export function Gates({ deployment }: { deployment: Deployment }) {
  const say = useWords(words)
  return (
    <LineSetting
      deployment={deployment}
      field="benchmark_gates"
      title={say.gates}
      none={say.noGates}
      asking={say.gatesOf(deployment.name)}
      label={say.gatesOneALine}
      entry={ref => {
        const [name = '', version = ''] = ref.split('@')
        return (
          <Link to="/benchmarks/$name" params={{ name }} search={{ version }}>
            {ref}
          </Link>
        )
      }}
    />
  )
}
