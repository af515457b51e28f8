import styles from './copy.module.css'

/** An id, whole on hover. Long ones are abbreviated to their end, which differs between neighbours. */
export const Id = ({ id, most = 24 }: { id: string; most?: number }) => (
  <code className={styles.id} title={id}>
    {id.length <= most ? id : `${id.slice(0, 4)}…${id.slice(-8)}`}
  </code>
)
