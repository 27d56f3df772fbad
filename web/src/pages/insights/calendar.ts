/** A year of days as a calendar of weeks. Pure. */
import { dayName } from './range';

export interface CalendarDay {
  /** `2026-11-18`, a local day. */
  name: string;
  /** The local midnight with which it begins. */
  time: number;
  week: number;
  /** 0 is Monday. */
  weekday: number;
  value: number;
  /** 0 without activity, else 1 to 4. */
  level: number;
}

export interface Calendar {
  days: CalendarDay[];
  weeks: number;
  /** The week in which each month begins. */
  months: { name: string; week: number }[];
}

const WEEKS = 53;
const LEVELS = 4;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/**
 * Returns the last 53 weeks up to the day of `now`. Levels are quarters of the days that have a value, not of the
 * greatest value: one extraordinary day would make all others look empty.
 */
export function calendarOf(values: ReadonlyMap<string, number>, now: number): Calendar {
  const today = new Date(now);
  const weekday = (today.getDay() + 6) % 7;
  const first = new Date(today.getFullYear(), today.getMonth(), today.getDate() - weekday - (WEEKS - 1) * 7);
  const days: CalendarDay[] = [];
  const months: Calendar['months'] = [];
  for (let at = 0; at <= (WEEKS - 1) * 7 + weekday; at += 1) {
    const day = new Date(first.getFullYear(), first.getMonth(), first.getDate() + at);
    const name = dayName(day.getTime());
    const week = Math.floor(at / 7);
    if (day.getDate() === 1 && week < WEEKS - 1) months.push({ name: MONTHS[day.getMonth()]!, week });
    days.push({ name, time: day.getTime(), week, weekday: at % 7, value: values.get(name) ?? 0, level: 0 });
  }
  const sorted = days.map(({ value }) => value).filter((value) => value > 0);
  sorted.sort((a, b) => a - b);
  for (const day of days) if (day.value > 0) day.level = levelOf(day.value, sorted);
  return { days, weeks: WEEKS, months };
}

function levelOf(value: number, sorted: readonly number[]): number {
  const below = sorted.findLastIndex((one) => one <= value) + 1;
  return Math.max(1, Math.ceil((below / sorted.length) * LEVELS));
}
