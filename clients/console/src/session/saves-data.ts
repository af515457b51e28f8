type Connection = { saveData?: boolean }

/** Whether the browser is set to load no more than it is asked for. */
export const savesData = (): boolean =>
  (navigator as Navigator & { connection?: Connection }).connection?.saveData === true
