import { all, step, workflow } from "fermata-engine/workflow";

export type Album = Readonly<{ name: string; pictures: number }>;

export const makeThumbnail = step("make-thumbnail", async (picture: string) => ({
  file: `${picture}-small.jpg`,
  bytes: 1_000 + picture.length,
}));

/** Makes a thumbnail of every picture at once, and adds up what they take. */
export const album = workflow("album", async ({ name, pictures }: Album) => {
  const names = Array.from({ length: pictures }, (_, at) => `${name}-${at + 1}`);

  const thumbnails = await all(names.map((picture) => makeThumbnail(picture)));

  return {
    first: thumbnails[0]?.file ?? null,
    last: thumbnails.at(-1)?.file ?? null,
    bytes: thumbnails.reduce((sum, { bytes }) => sum + bytes, 0),
  };
});
