import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { LineSetting } from './line-setting.tsx'
import type { Deployment } from './paths.ts'
import { words } from './words.ts'

/** The origins whose web pages may call the deployment. */
export function Origins({ deployment }: { deployment: Deployment }) {
  const say = useWords(words)
  return (
    <LineSetting
      deployment={deployment}
      field="allowed_origins"
      title={say.origins}
      none={say.noOrigins}
      asking={say.originsOf(deployment.name)}
      label={say.originsOneALine}
      entry={origin => (origin === '*' ? say.everyOrigin : visible(origin))}
    />
  )
}
