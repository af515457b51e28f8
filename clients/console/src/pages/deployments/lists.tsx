import { Link } from '@tanstack/react-router'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { type LineList, LineSetting } from './line-setting.tsx'
import type { Deployment } from './paths.ts'
import { words } from './words.ts'

type Say = (typeof words)['en']

/** The benchmarks whose scores a promotion must not lower. */
const gates = (say: Say, name: string): LineList => ({
  ...{ field: 'benchmark_gates', title: say.gates, none: say.noGates },
  ...{ asking: say.gatesOf(name), label: say.gatesOneALine },
  entry: ref => {
    const [benchmark = '', version = ''] = ref.split('@')
    return (
      <Link to="/benchmarks/$name" params={{ name: benchmark }} search={{ version }}>
        {ref}
      </Link>
    )
  },
})

/** The origins whose web pages may call the deployment. */
const origins = (say: Say, name: string): LineList => ({
  ...{ field: 'allowed_origins', title: say.origins, none: say.noOrigins },
  ...{ asking: say.originsOf(name), label: say.originsOneALine },
  entry: origin => (origin === '*' ? say.everyOrigin : visible(origin)),
})

/** The settings of a deployment that are lists. */
export function Lists({ deployment }: { deployment: Deployment }) {
  const say = useWords(words)
  return [gates, origins].map(list => (
    <LineSetting key={list.name} {...{ deployment }} {...list(say, deployment.name)} />
  ))
}
