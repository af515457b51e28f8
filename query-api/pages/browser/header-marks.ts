import { notificationMark } from './notifications.ts'

/**
 * What the header of a page shows beside its title. Each makes its element and keeps it up to date by itself;
 * the list is written by hand.
 */
export const headerMarks: readonly (() => HTMLElement)[] = [notificationMark]
