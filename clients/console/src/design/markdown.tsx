import styles from './markdown.module.css'
import { usePart } from './use-part.ts'

const load = () => import('./markdown-view.tsx')

/** A text in Markdown; its code is loaded with the first such text. */
export function Markdown({ text }: { text: string }) {
  const View = usePart(load)?.MarkdownView ?? null
  return View ? <View text={text} /> : <p className={styles.plain}>{text}</p>
}
