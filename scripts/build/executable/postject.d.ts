// The part of postject that is used; it comes without types.
declare module "postject" {
  export function inject(
    file: string,
    resource: string,
    data: Buffer,
    options: { sentinelFuse: string },
  ): Promise<void>;
}
