"""Writes the samples of this folder: python write_samples.py FOLDER (zarr 3.1, numcodecs 0.16)."""
import zarr, numpy as np, shutil, os, sys
out=sys.argv[1]; shutil.rmtree(out,ignore_errors=True); os.makedirs(out)
rng=np.random.default_rng(1)
data=(np.cumsum(rng.integers(-3,4,size=(48,40)),axis=1)).astype('<i4')
np.save(out+'/data.npy',data)
import numcodecs
for cname in ['blosclz','lz4','lz4hc','zlib','zstd']:
    for name,num in [('noshuffle',0),('shuffle',1),('bitshuffle',2)]:
        a=zarr.create_array(f'{out}/v3_{cname}_{name}.zarr',shape=data.shape,chunks=(30,25),dtype='<i4',zarr_format=3,compressors=zarr.codecs.BloscCodec(cname=cname,clevel=5,shuffle=name,typesize=4))
        a[:]=data
        if name=='noshuffle': continue
        a=zarr.create_array(f'{out}/v2_{cname}_{name}.zarr',shape=data.shape,chunks=(30,25),dtype='<i4',zarr_format=2,compressors=numcodecs.Blosc(cname=cname,clevel=5,shuffle=num))
        a[:]=data
