import type { InstanceRow } from '../../../storage/schema-rows.ts';

type Hearing = Pick<InstanceRow, 'news'>;

/** What an instance has not heard of yet, and this too: it is typed as one line. */
export const withNews = ({ news }: Hearing, words: string): string => (news === null ? words : `${news} ${words}`);

/** What has come since it was told so much. */
export function stillUnheard({ news }: Hearing, told: string): string | null {
  if (news === null || news === told) return null;
  return news.startsWith(`${told} `) ? news.slice(told.length + 1) : news;
}
