// Command protogen compiles the .proto files of a directory and runs the pinned
// protoc-gen-go on them, so that generating needs nothing but Go.
//
//	go run ./tools/protogen [-check] DIR
//
// -check writes nothing and fails when a committed file differs from what would be generated.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const parameter = "paths=source_relative,default_api_level=API_OPAQUE"

func main() {
	check := flag.Bool("check", false, "fail on a difference instead of writing")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: protogen [-check] DIR")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *check); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func run(dir string, check bool) error {
	request, err := compile(dir)
	if err != nil {
		return err
	}
	response, err := generate(request)
	if err != nil {
		return err
	}
	for _, f := range response.GetFile() {
		path := filepath.Join(dir, f.GetName())
		have, err := os.ReadFile(path)
		if err == nil && string(have) == f.GetContent() {
			continue
		}
		if check {
			return fmt.Errorf("%s is stale: run make gen and commit the result", path)
		}
		if err := os.WriteFile(path, []byte(f.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func compile(dir string) (*pluginpb.CodeGeneratorRequest, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.proto"))
	if err != nil {
		return nil, err
	}
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = filepath.Base(p)
	}
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{dir}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(context.Background(), names...)
	if err != nil {
		return nil, err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: names, Parameter: proto.String(parameter)}
	seen := map[string]bool{}
	for _, f := range files {
		addWithImports(request, f, seen)
	}
	return request, nil
}

// addWithImports appends f after everything it imports, as the plugin protocol asks.
func addWithImports(request *pluginpb.CodeGeneratorRequest, f protoreflect.FileDescriptor, seen map[string]bool) {
	if seen[f.Path()] {
		return
	}
	seen[f.Path()] = true
	imports := f.Imports()
	for i := range imports.Len() {
		addWithImports(request, imports.Get(i).FileDescriptor, seen)
	}
	var fd *descriptorpb.FileDescriptorProto
	if result, ok := f.(linker.Result); ok {
		fd = result.FileDescriptorProto()
	} else {
		fd = protoutil.ProtoFromFileDescriptor(f)
	}
	request.ProtoFile = append(request.ProtoFile, fd)
}

func generate(request *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	in, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "tool", "protoc-gen-go")
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("protoc-gen-go: %w", err)
	}
	response := new(pluginpb.CodeGeneratorResponse)
	if err := proto.Unmarshal(out, response); err != nil {
		return nil, err
	}
	if response.Error != nil {
		return nil, fmt.Errorf("protoc-gen-go: %s", response.GetError())
	}
	return response, nil
}
